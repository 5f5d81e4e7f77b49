// libFuzzer for programs with a main of their own (LLVM documentation, "Using libFuzzer as a library"). Weak, because
// only `make fuzz` links it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size))
    __attribute__((weak));

static inline bool hasLibFuzzer(void) { return LLVMFuzzerRunDriver != 0; }
