// LAME, through libmp3lame.
#pragma once

#include <lame/lame.h>
