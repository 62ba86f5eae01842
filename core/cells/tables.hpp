#pragma once

#include "core/cells/blocks.hpp"
#include "core/coders/symbol_tables.hpp"

namespace cuszi {

// Frequency tables of `cells`: one of tokens for each class but 0, one of classes for each context.
// A frame's head has those that pay for themselves; others are defaults of the format.

struct CellsTables {
  SymbolTable codes[class_count];    ///< of tokens, by class; none is coded in class 0
  SymbolTable classes[class_count];  ///< of classes, by context
};

/// The default tables.
const CellsTables& default_tables();

}  // namespace cuszi
