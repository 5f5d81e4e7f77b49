// libjpeg-turbo's TurboJPEG API.
#pragma once

#include <turbojpeg.h>
