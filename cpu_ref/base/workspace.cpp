#include "cpu_ref/base/workspace.hpp"

namespace cuszi::cpu {

void SectionStore::keep(OwnedSection section, Sections& out) {
  if (section.bytes.empty()) return;
  kept_.push_back(std::move(section.bytes));
  out.add(section.id, kept_.back());
}

}  // namespace cuszi::cpu
