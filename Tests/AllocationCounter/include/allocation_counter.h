#pragma once

#include <stdint.h>

/// How often this thread has asked for memory: malloc(3), calloc, realloc and aligned memory.
uint64_t allocation_counter_of_this_thread(void);

/// Of 1000 bytes and more: what holds a whole packet.
uint64_t allocation_counter_large_of_this_thread(void);
