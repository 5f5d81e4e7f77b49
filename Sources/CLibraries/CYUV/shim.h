// libyuv: colour conversion, scaling and rotation. Only its C headers; libyuv.h would bring the C++ ones with it.
#pragma once

#include <libyuv/convert.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>
