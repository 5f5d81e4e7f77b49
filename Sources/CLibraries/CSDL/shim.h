// SDL2: the window, its keys and its picture. Swift cannot take macros that build numbers and the event's union.
#pragma once

#include <SDL2/SDL.h>

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
  /// Textures are gone and have to be made anew.
  CSDL_TEXTURES_LOST,
};

struct csdl_event {
  enum csdl_kind kind;
  /// The character that the key has on this keyboard's layout (SDL_Keycode).
  int key;
  int repeats;
};

/// Waits at most so long for an event and says what it is; `kind` is CSDL_OTHER after a timeout, and 0 is returned.
static inline int csdl_wait(struct csdl_event *told, int milliseconds) {
  SDL_Event event;
  memset(told, 0, sizeof *told);
  if (!SDL_WaitEventTimeout(&event, milliseconds)) return 0;
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
    case SDL_MOUSEMOTION: told->kind = CSDL_POINTER; break;
    case SDL_MOUSEBUTTONDOWN:
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
static inline void csdl_wake(void) {
  SDL_Event event;
  memset(&event, 0, sizeof event);
  event.type = SDL_USEREVENT;
  SDL_PushEvent(&event);
}

static inline SDL_bool csdl_true(int value) { return value ? SDL_TRUE : SDL_FALSE; }
