// libsndfile's types and constants. The library itself is not linked: with its codecs it takes 1.3 MB of a program that
// may never play a file, so it is loaded for as long as one is open.
#pragma once

#include <sndfile.h>
