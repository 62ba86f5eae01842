#pragma once

// What most tests include, compiled once (tests/CMakeLists.txt).
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tests/support/catch.hpp"
