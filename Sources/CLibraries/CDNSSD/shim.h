// DNS-SD as Avahi offers it through Bonjour's interface: dns_sd.h of libavahi-compat-libdnssd.
#pragma once

#include <avahi-common/alternative.h>
#include <avahi-common/malloc.h>
#include <dns_sd.h>
#include <net/if.h>
#include <stdlib.h>

static inline void *cdnssd_allocate(size_t size) {
  return calloc(1, size);
}

/// To be called once, before anything else of the library.
///
/// Up to Avahi 0.8 a new DNSServiceRef comes from malloc(3) with its unused callbacks left unset, and those of a resolver
/// and of a record query are called when the daemon goes away. Cleared memory is what 0.9 has as well. The variable
/// stops three lines on standard error that tell developers to use another interface.
static inline void cdnssd_prepare(void) {
  static const AvahiAllocator clearing = {
      .malloc = cdnssd_allocate, .free = free, .realloc = realloc, .calloc = calloc};
  avahi_set_allocator(&clearing);
  setenv("AVAHI_COMPAT_NOWARN", "1", 1);
}
