#include "bindings/containers/hdf5_handle.hpp"

#include <H5PLextern.h>

#include "core/base/error.hpp"

namespace cuszi::hdf5 {

namespace {

/// Leaves the text of the last entry: the innermost, where the way is down.
herr_t take_text(unsigned /*depth*/, const H5E_error2_t* entry, void* text) {
  if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

}  // namespace

Handle::Handle(hid_t id, Close close, const Subject& subject)
    : id_(check(id, subject)), close_(close) {}

void fail(const Subject& subject) {
  std::string reason;
  ::H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take_text, &reason);
  const std::string message =
      subject.name + ": HDF5 fails: " + (reason.empty() ? "it does not say why" : reason);
  if (subject.is_output) throw OutputError(message);
  throw InputError(message);
}

void prepare_library() {
  static const bool prepared = [] {
    ::H5dont_atexit();  // files that could not be written are open still, and it fails again
    ::H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return ::H5Zregister(::H5PLget_plugin_info()) >= 0;
  }();
  if (!prepared) fail("the filter of cuszi");
}

}  // namespace cuszi::hdf5
