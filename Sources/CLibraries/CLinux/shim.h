// What Swift cannot take from the Linux headers by itself: macros with arguments and variadic functions.
#pragma once

#include <errno.h>
#include <linux/gpio.h>
#include <linux/videodev2.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <linux/rtnetlink.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <termios.h>
#include <unistd.h>

// ppoll(2) and pipe2(2): glibc declares them for _GNU_SOURCE alone.
extern int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
extern int pipe2(int ends[2], int flags);
// posix_spawn(3) and fcntl(2), likewise.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern char **environ;
#define CLINUX_F_SETPIPE_SZ 1031

/// Writes what is buffered for standard output. 0, or the errno of what could not be written, now or before: EIO where
/// that is not known any more. stdio(3).
static inline int clinux_flush_output(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  return errno != 0 ? errno : EIO;
}

static inline char **clinux_environment(void) {
  return environ;
}

/// Names the calling thread; `name` is cut to 15 bytes. prctl(2).
static inline void clinux_set_thread_name(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// No core dumps of this process, and no other program of its user may look into it. prctl(2), PR_SET_DUMPABLE.
static inline void clinux_forbid_dumps(void) {
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/// The process ends with the thread that started it, gains no privileges by programs that it starts, and cannot be dumped.
/// prctl(2), PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE.
static inline void clinux_confine(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// How the terminal on standard input was before keys were read one by one; and whether they are.
static inline struct termios *clinux_terminal_kept(void) {
  static struct termios kept;
  return &kept;
}
static volatile sig_atomic_t clinux_terminal_is_single = 0;

// Only the foreground may change its terminal; whoever else tries is stopped: tty_ioctl(4), SIGTTOU.
static inline int clinux_terminal_is_ours(void) {
  return tcgetpgrp(0) == getpgrp();
}

static inline void clinux_terminal_set_single(void) {
  struct termios single = *clinux_terminal_kept();
  single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  single.c_cc[VMIN] = 1;
  single.c_cc[VTIME] = 0;
  if (clinux_terminal_is_ours()) tcsetattr(0, TCSANOW, &single);
}

static inline void clinux_terminal_restore(void) {
  if (clinux_terminal_is_single && clinux_terminal_is_ours()) tcsetattr(0, TCSANOW, clinux_terminal_kept());
}

// Stopped by Ctrl-Z the terminal is the shell's, as it was.
static inline void clinux_terminal_stop_handler(int number) {
  (void)number;
  int kept = errno;
  clinux_terminal_restore();
  kill(getpid(), SIGSTOP);
  errno = kept;
}

static inline void clinux_terminal_continue_handler(int number) {
  (void)number;
  int kept = errno;
  if (clinux_terminal_is_single) clinux_terminal_set_single();
  errno = kept;
}

// The end by a signal.
static inline void clinux_terminal_end_handler(int number) {
  clinux_terminal_restore();
  signal(number, SIG_DFL);
  raise(number);
}

/// From now on each key of the terminal on standard input is read at once and not shown; at every end of the process, and
/// while it is stopped, the terminal is as it was. Ctrl-C and Ctrl-Z remain signals. 0, or a negated errno. termios(3).
static inline int clinux_terminal_read_single_keys(void) {
  if (tcgetattr(0, clinux_terminal_kept()) != 0) return -errno;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_RESTART;
  action.sa_handler = clinux_terminal_stop_handler;
  sigaction(SIGTSTP, &action, 0);
  action.sa_handler = clinux_terminal_continue_handler;
  sigaction(SIGCONT, &action, 0);
  action.sa_handler = clinux_terminal_end_handler;
  const int ends[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGFPE};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaction(ends[i], &action, 0);
  // In the background a read fails, instead of stopping the program.
  signal(SIGTTIN, SIG_IGN);
  clinux_terminal_is_single = 1;
  clinux_terminal_set_single();
  return 0;
}

/// As it was before.
static inline void clinux_terminal_read_lines(void) {
  clinux_terminal_restore();
  clinux_terminal_is_single = 0;
}

// What clinux_catch_stop's handler adds to.
static int clinux_stop_counter = -1;

// What a SIGHUP adds: more than stops can.
static const uint64_t CLINUX_HANGUP = (uint64_t)1 << 32;

static inline void clinux_stop_handler(int number) {
  int kept = errno;
  // A second signal may end the process at any moment.
  clinux_terminal_restore();
  uint64_t one = number == SIGHUP ? CLINUX_HANGUP : 1;
  ssize_t written = write(clinux_stop_counter, &one, sizeof one);
  (void)written;
  errno = kept;
}

/// Catches SIGTERM, SIGINT and SIGHUP: they are counted in the eventfd that is returned, a SIGHUP as CLINUX_HANGUP. A second
/// SIGTERM or SIGINT ends the process, as without this; SIGHUP does not, as a terminal that closes sends it twice, once by
/// the kernel and once by the shell. Where whoever started the process ignores SIGHUP (nohup), so does it. Negated errno when there is no descriptor left. Call once. eventfd(2), signal-safety(7).
static inline int clinux_catch_stop(void) {
  clinux_stop_counter = eventfd(0, EFD_CLOEXEC);
  if (clinux_stop_counter < 0) return -errno;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = clinux_stop_handler;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGTERM, &action, 0);
  sigaction(SIGINT, &action, 0);
  struct sigaction before;
  if (sigaction(SIGHUP, 0, &before) == 0 && before.sa_handler != SIG_IGN) {
    action.sa_flags = SA_RESTART;
    sigaction(SIGHUP, &action, 0);
  }
  return clinux_stop_counter;
}

/// ioctl(2), once more when a signal came in between. 0 or more, or a negated errno.
static inline int clinux_ioctl(int descriptor, unsigned long request, void *argument) {
  int result;
  do {
    result = ioctl(descriptor, request, argument);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

/// Sends `count` bytes to one address, without waiting. With a `segment_size` the kernel cuts them into datagrams of that
/// size, the last of which may be shorter: sendmsg(2), cmsg(3), and udp(7), UDP_SEGMENT. 0, or a negated errno.
static inline int clinux_send_datagrams(
    int descriptor, const void *bytes, size_t count, uint16_t segment_size, const struct sockaddr *to, socklen_t to_size) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_name = (void *)to;
  message.msg_namelen = to_size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (segment_size) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control.bytes;
    control.header.cmsg_level = 17;  // SOL_UDP
    control.header.cmsg_type = 103;  // UDP_SEGMENT of linux/udp.h
    control.header.cmsg_len = CMSG_LEN(sizeof segment_size);
    memcpy(CMSG_DATA(&control.header), &segment_size, sizeof segment_size);
  }
  ssize_t sent;
  do {
    sent = sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

// V4L2 requests: linux/videodev2.h.
static const unsigned long CLINUX_VIDIOC_QUERYCAP = VIDIOC_QUERYCAP;
static const unsigned long CLINUX_VIDIOC_ENUM_FMT = VIDIOC_ENUM_FMT;
static const unsigned long CLINUX_VIDIOC_ENUM_FRAMESIZES = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long CLINUX_VIDIOC_ENUM_FRAMEINTERVALS = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long CLINUX_VIDIOC_TRY_FMT = VIDIOC_TRY_FMT;
static const unsigned long CLINUX_VIDIOC_S_FMT = VIDIOC_S_FMT;
static const unsigned long CLINUX_VIDIOC_G_PARM = VIDIOC_G_PARM;
static const unsigned long CLINUX_VIDIOC_S_PARM = VIDIOC_S_PARM;
static const unsigned long CLINUX_VIDIOC_REQBUFS = VIDIOC_REQBUFS;
static const unsigned long CLINUX_VIDIOC_QUERYBUF = VIDIOC_QUERYBUF;
static const unsigned long CLINUX_VIDIOC_QBUF = VIDIOC_QBUF;
static const unsigned long CLINUX_VIDIOC_DQBUF = VIDIOC_DQBUF;
static const unsigned long CLINUX_VIDIOC_STREAMON = VIDIOC_STREAMON;
static const unsigned long CLINUX_VIDIOC_STREAMOFF = VIDIOC_STREAMOFF;

// V4L2 controls: linux/v4l2-controls.h and Documentation/userspace-api/media/v4l/control.rst of the kernel.
static const unsigned int CLINUX_CID_EXPOSURE_AUTO = V4L2_CID_EXPOSURE_AUTO;
static const unsigned int CLINUX_CID_EXPOSURE_ABSOLUTE = V4L2_CID_EXPOSURE_ABSOLUTE;
static const unsigned int CLINUX_CID_EXPOSURE_AUTO_PRIORITY = V4L2_CID_EXPOSURE_AUTO_PRIORITY;
static const unsigned int CLINUX_CID_AUTO_WHITE_BALANCE = V4L2_CID_AUTO_WHITE_BALANCE;
static const unsigned int CLINUX_CID_FOCUS_AUTO = V4L2_CID_FOCUS_AUTO;
static const unsigned int CLINUX_CTRL_FLAG_DISABLED = V4L2_CTRL_FLAG_DISABLED;
static const unsigned int CLINUX_CTRL_FLAG_READ_ONLY = V4L2_CTRL_FLAG_READ_ONLY;
static const unsigned int CLINUX_CTRL_FLAG_INACTIVE = V4L2_CTRL_FLAG_INACTIVE;
static const unsigned int CLINUX_CTRL_FLAG_WRITE_ONLY = V4L2_CTRL_FLAG_WRITE_ONLY;
static const unsigned int CLINUX_CTRL_FLAG_VOLATILE = V4L2_CTRL_FLAG_VOLATILE;

/// The control with the next higher id than `after`; compound ones are left out. 0, or a negated errno, EINVAL at the end.
static inline int clinux_next_control(int descriptor, unsigned int after, struct v4l2_query_ext_ctrl *control) {
  memset(control, 0, sizeof *control);
  control->id = after | V4L2_CTRL_FLAG_NEXT_CTRL;
  return clinux_ioctl(descriptor, VIDIOC_QUERY_EXT_CTRL, control);
}

/// One entry of a menu control: its name, or, for V4L2_CTRL_TYPE_INTEGER_MENU, its value. 0, or a negated errno, EINVAL
/// for an index that the menu leaves out.
static inline int clinux_control_menu(
    int descriptor, unsigned int id, unsigned int index, char name[32], long long *value) {
  struct v4l2_querymenu entry;
  memset(&entry, 0, sizeof entry);
  entry.id = id;
  entry.index = index;
  int result = clinux_ioctl(descriptor, VIDIOC_QUERYMENU, &entry);
  if (result < 0) return result;
  memcpy(name, entry.name, sizeof entry.name);
  *value = entry.value;
  return 0;
}

/// VIDIOC_G_EXT_CTRLS or VIDIOC_S_EXT_CTRLS of one control, whose value has 64 bits if `is_long`. 0, or a negated errno.
static inline int clinux_control_value(int descriptor, int set, unsigned int id, int is_long, long long *value) {
  struct v4l2_ext_control control;
  memset(&control, 0, sizeof control);
  control.id = id;
  if (is_long) {
    control.value64 = *value;
  } else {
    control.value = (int)*value;
  }
  struct v4l2_ext_controls controls;
  memset(&controls, 0, sizeof controls);
  controls.which = V4L2_CTRL_ID2WHICH(id);
  controls.count = 1;
  controls.controls = &control;
  int result = clinux_ioctl(descriptor, set ? VIDIOC_S_EXT_CTRLS : VIDIOC_G_EXT_CTRLS, &controls);
  if (result < 0) return result;
  *value = is_long ? control.value64 : control.value;
  return 0;
}

// Pixel formats by their four characters: linux/videodev2.h.
static const unsigned int CLINUX_PIX_FMT_YUYV = V4L2_PIX_FMT_YUYV;
static const unsigned int CLINUX_PIX_FMT_UYVY = V4L2_PIX_FMT_UYVY;
static const unsigned int CLINUX_PIX_FMT_NV12 = V4L2_PIX_FMT_NV12;
static const unsigned int CLINUX_PIX_FMT_NV21 = V4L2_PIX_FMT_NV21;
static const unsigned int CLINUX_PIX_FMT_YUV420 = V4L2_PIX_FMT_YUV420;
static const unsigned int CLINUX_PIX_FMT_YVU420 = V4L2_PIX_FMT_YVU420;
static const unsigned int CLINUX_PIX_FMT_MJPEG = V4L2_PIX_FMT_MJPEG;
static const unsigned int CLINUX_PIX_FMT_JPEG = V4L2_PIX_FMT_JPEG;
static const unsigned int CLINUX_PIX_FMT_GREY = V4L2_PIX_FMT_GREY;

// GPIO character device, version 2: linux/gpio.h.
static const unsigned long CLINUX_GPIO_GET_CHIPINFO = GPIO_GET_CHIPINFO_IOCTL;
static const unsigned long CLINUX_GPIO_V2_GET_LINEINFO = GPIO_V2_GET_LINEINFO_IOCTL;
static const unsigned long CLINUX_GPIO_V2_GET_LINE = GPIO_V2_GET_LINE_IOCTL;
static const unsigned long CLINUX_GPIO_V2_LINE_GET_VALUES = GPIO_V2_LINE_GET_VALUES_IOCTL;
static const unsigned long CLINUX_GPIO_V2_LINE_SET_VALUES = GPIO_V2_LINE_SET_VALUES_IOCTL;

/// Whether something keeps the clock right: adjtimex(2), STA_UNSYNC. 1, 0, or a negated errno.
static inline int clinux_clock_is_synchronized(void) {
  struct timex state = {.modes = 0};
  if (adjtimex(&state) < 0) return -errno;
  return (state.status & STA_UNSYNC) == 0;
}

/// Whether a Wi-Fi interface saves power: SIOCGIWPOWER of linux/wireless.h, whose structures are written out here
/// because that header and net/if.h exclude each other. 1, 0, or a negated errno.
static inline int clinux_wireless_power_saving(const char *interface) {
  struct {
    char name[16];
    struct {
      int value;
      unsigned char fixed;
      unsigned char disabled;
      unsigned short flags;
    } power;
    char rest[8];
  } request = {.name = ""};
  if (strlen(interface) >= sizeof request.name) return -ENODEV;
  strcpy(request.name, interface);
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int result = ioctl(descriptor, 0x8B2D, &request);
  int number = errno;
  close(descriptor);
  return result < 0 ? -number : !request.power.disabled;
}

// Interface flags: netdevice(7). net/if.h and linux/if.h exclude each other.
static const uint32_t CLINUX_IFF_UP = 0x1;
static const uint32_t CLINUX_IFF_POINTOPOINT = 0x10;
static const uint32_t CLINUX_IFF_RUNNING = 0x40;

/// A socket for what the kernel knows of interfaces and their addresses, non-blocking; with `listens` it learns of every
/// change of them: rtnetlink(7). A descriptor, or a negated errno.
static inline int clinux_open_route_socket(int listens) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -errno;
  struct sockaddr_nl address;
  memset(&address, 0, sizeof address);
  address.nl_family = AF_NETLINK;
  if (listens) address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    int number = errno;
    close(descriptor);
    return -number;
  }
  return descriptor;
}

/// Asks for all objects of a kind, RTM_GETLINK, RTM_GETADDR or RTM_GETROUTE; the answers carry `sequence`. 0, or a negated errno.
static inline int clinux_request_route_dump(int descriptor, uint16_t kind, uint32_t sequence) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request;
  memset(&request, 0, sizeof request);
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = kind;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = sequence;
  request.body.rtgen_family = AF_UNSPEC;
  return send(descriptor, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}
