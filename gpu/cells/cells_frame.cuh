#pragma once

#include "core/cells/blocks.hpp"
#include "core/cells/quantiser.hpp"
#include "gpu/cells/cell.cuh"
#include "gpu/runtime/context.hpp"
