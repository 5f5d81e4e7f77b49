// libyaml.
#pragma once

#include <yaml.h>
