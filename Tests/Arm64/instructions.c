// Counts the instructions that a program for arm64 runs in QEMU's user emulation, and how many of them are Advanced SIMD
// (NEON) or scalar floating point. A TCG plugin: https://www.qemu.org/docs/master/devel/tcg-plugins.html
//
//   gcc -shared -fPIC -O2 -o instructions.so instructions.c
//   qemu-aarch64 -plugin ./instructions.so -d plugin PROGRAM
//
// Exact for programs with one thread. Debian ships no header for the interface, so its declarations stand here.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op, void *, uint64_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
void qemu_plugin_outs(const char *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t all, vector;

// Arm Architecture Reference Manual, C4.1: bits 28 to 25 are x111 for "Data Processing -- Scalar Floating-Point and
// Advanced SIMD"; loads and stores (x1x0) belong to the vector registers when bit 26 is set.
static int is_vector(uint32_t word) {
  unsigned op0 = word >> 25 & 15;
  return (op0 & 7) == 7 || ((op0 & 5) == 4 && (word >> 26 & 1));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  size_t count = qemu_plugin_tb_n_insns(block), vectors = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)), sizeof word);
    vectors += is_vector(word);
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &all, count);
  if (vectors) qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &vector, vectors);
}

static void ended(qemu_plugin_id_t id, void *data) {
  char line[96];
  snprintf(line, sizeof line, "{\"instructions\": %" PRIu64 ", \"vector\": %" PRIu64 "}\n", all, vector);
  qemu_plugin_outs(line);
}

__attribute__((visibility("default"))) int qemu_plugin_install(
    qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
