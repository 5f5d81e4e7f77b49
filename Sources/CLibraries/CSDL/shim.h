// SDL2: the window, its keys and its picture. Swift cannot take macros that build numbers and the event's union.
//
// The library is not linked: it brings X11, Wayland and PulseAudio along, some fifty libraries that every short command would
// load and every machine without a display would have to install. It is loaded when a window is opened.
#pragma once

#include <SDL2/SDL.h>
#include <dlfcn.h>
#include <stdlib.h>

#pragma clang assume_nonnull begin

/// The functions that a viewer's window calls, without their prefix.
#define CSDL_FUNCTIONS(each) \
  each(CreateRenderer) each(CreateTexture) each(CreateWindow) each(DestroyRenderer) each(DestroyTexture) \
  each(DestroyWindow) each(DisableScreenSaver) each(FlashWindow) each(GetCurrentVideoDriver) \
  each(GetDisplayUsableBounds) each(GetError) each(GetGlobalMouseState) each(GetNumVideoDisplays) \
  each(GetRendererOutputSize) each(GetWindowFlags) each(GetWindowPosition) each(GetWindowSize) each(HideWindow) \
  each(Init) each(PushEvent) each(QuitSubSystem) each(RenderCopy) each(RenderFillRect) each(RenderPresent) \
  each(SetHint) each(SetRenderDrawBlendMode) each(SetRenderDrawColor) each(SetTextureBlendMode) \
  each(SetTextureColorMod) each(SetTextureScaleMode) each(SetWindowAlwaysOnTop) each(SetWindowBordered) \
  each(SetWindowFullscreen) each(SetWindowMinimumSize) each(SetWindowPosition) each(SetWindowSize) \
  each(SetWindowTitle) each(SetYUVConversionMode) each(ShowCursor) each(ShowWindow) each(UpdateTexture) \
  each(UpdateYUVTexture) each(WaitEventTimeout)

struct csdl_library {
#define CSDL_FIELD(name) __typeof__(&SDL_##name) _Nonnull name;
  CSDL_FUNCTIONS(CSDL_FIELD)
#undef CSDL_FIELD
};

/// SDL2 for the rest of the process, or NULL where it is not installed (dlerror(3) says more). The soname includes the ABI
/// version, which matches the header.
static inline const struct csdl_library *_Nullable csdl_load(void) {
  void *_Nullable found = dlopen("libSDL2-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
  struct csdl_library *_Nullable library = malloc(sizeof *library);
  if (!found || !library) return NULL;
#define CSDL_FIND(name) if (!(library->name = (__typeof__(&SDL_##name))dlsym(found, "SDL_" #name))) return NULL;
  CSDL_FUNCTIONS(CSDL_FIND)
#undef CSDL_FIND
  return library;
}

static const Uint32 CSDL_INIT_VIDEO = SDL_INIT_VIDEO;
static const Uint32 CSDL_WINDOW_FLAGS = SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_HIDDEN;
static const Uint32 CSDL_WINDOW_FULL_SCREEN = SDL_WINDOW_FULLSCREEN_DESKTOP;
static const Uint32 CSDL_WINDOW_MAXIMIZED = SDL_WINDOW_MAXIMIZED;
static const Uint32 CSDL_WINDOW_MINIMIZED = SDL_WINDOW_MINIMIZED;
static const Uint32 CSDL_WINDOW_HIDDEN = SDL_WINDOW_HIDDEN;
static const Uint32 CSDL_RENDERER_ACCELERATED = SDL_RENDERER_ACCELERATED;
static const Uint32 CSDL_RENDERER_SOFTWARE = SDL_RENDERER_SOFTWARE;
static const int CSDL_CENTERED = SDL_WINDOWPOS_CENTERED;
static const Uint32 CSDL_IYUV = SDL_PIXELFORMAT_IYUV;
static const Uint32 CSDL_ARGB8888 = SDL_PIXELFORMAT_ARGB8888;

/// What an event is about, for the ones that a viewer's window follows.
enum csdl_kind {
  CSDL_OTHER,
  CSDL_QUIT,
  CSDL_WOKEN,
  CSDL_KEY_DOWN,
  CSDL_KEY_UP,
  /// Something on the window: shown, resized, uncovered.
  CSDL_CHANGED,
  CSDL_MOVED,
  CSDL_RESIZED,
  CSDL_FOCUS_GAINED,
  CSDL_FOCUS_LOST,
  CSDL_BUTTON_DOWN,
  CSDL_BUTTON_UP,
  CSDL_DOUBLE_CLICK,
  CSDL_POINTER,
  /// Textures are gone and have to be made again.
  CSDL_TEXTURES_LOST,
};

struct csdl_event {
  enum csdl_kind kind;
  /// The character that the key has on this keyboard's layout (SDL_Keycode).
  int key;
  int repeats;
  /// Where the pointer is, in the window's own coordinates.
  int x, y;
};

/// Waits at most so long for an event and says what it is; `kind` is CSDL_OTHER after a timeout, and 0 is returned.
static inline int csdl_wait(const struct csdl_library *sdl, struct csdl_event *told, int milliseconds) {
  SDL_Event event;
  memset(told, 0, sizeof *told);
  if (!sdl->WaitEventTimeout(&event, milliseconds)) return 0;
  switch (event.type) {
    case SDL_QUIT: told->kind = CSDL_QUIT; break;
    case SDL_USEREVENT: told->kind = CSDL_WOKEN; break;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
      told->kind = event.type == SDL_KEYDOWN ? CSDL_KEY_DOWN : CSDL_KEY_UP;
      told->key = event.key.keysym.sym;
      // With Control, Alt or the Windows key it is somebody else's.
      if (event.type == SDL_KEYDOWN && (event.key.keysym.mod & (KMOD_CTRL | KMOD_ALT | KMOD_GUI))) told->kind = CSDL_OTHER;
      // On most layouts the question mark is Shift and another key.
      if (event.key.keysym.sym == SDLK_F1 || ((event.key.keysym.mod & KMOD_SHIFT) &&
          (event.key.keysym.sym == SDLK_SLASH || event.key.keysym.scancode == SDL_SCANCODE_MINUS))) told->key = '?';
      told->repeats = event.key.repeat;
      break;
    case SDL_MOUSEMOTION:
      told->kind = CSDL_POINTER;
      told->x = event.motion.x;
      told->y = event.motion.y;
      break;
    case SDL_MOUSEBUTTONDOWN:
      told->x = event.button.x;
      told->y = event.button.y;
      if (event.button.button == SDL_BUTTON_LEFT) told->kind = event.button.clicks == 2 ? CSDL_DOUBLE_CLICK : CSDL_BUTTON_DOWN;
      break;
    case SDL_MOUSEBUTTONUP:
      if (event.button.button == SDL_BUTTON_LEFT) told->kind = CSDL_BUTTON_UP;
      break;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET: told->kind = CSDL_TEXTURES_LOST; break;
    case SDL_WINDOWEVENT:
      switch (event.window.event) {
        case SDL_WINDOWEVENT_CLOSE: told->kind = CSDL_QUIT; break;
        case SDL_WINDOWEVENT_MOVED: told->kind = CSDL_MOVED; break;
        case SDL_WINDOWEVENT_SIZE_CHANGED: told->kind = CSDL_RESIZED; break;
        case SDL_WINDOWEVENT_FOCUS_GAINED: told->kind = CSDL_FOCUS_GAINED; break;
        case SDL_WINDOWEVENT_FOCUS_LOST: told->kind = CSDL_FOCUS_LOST; break;
        default: told->kind = CSDL_CHANGED; break;
      }
      break;
    default: break;
  }
  return 1;
}

/// Ends a wait. From any thread.
static inline void csdl_wake(const struct csdl_library *sdl) {
  SDL_Event event;
  memset(&event, 0, sizeof event);
  event.type = SDL_USEREVENT;
  sdl->PushEvent(&event);
}

static inline SDL_bool csdl_true(int value) { return value ? SDL_TRUE : SDL_FALSE; }

#pragma clang assume_nonnull end
