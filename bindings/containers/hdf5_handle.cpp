#include "bindings/containers/hdf5_handle.hpp"

#include <H5PLextern.h>
#include <fmt/format.h>

#include <string_view>

#include "core/base/error.hpp"

namespace cuszi::hdf5 {

namespace {

/// The last entry is the innermost.
herr_t take_text(unsigned /*depth*/, const H5E_error2_t* entry, void* text) {
  if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

/// The system's part of a long text.
std::string shortened(const std::string& text) {
  constexpr std::string_view mark = "error message = '";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  const std::size_t first = at + mark.size();
  return text.substr(first, text.find('\'', first) - first);
}

std::string reason_in(hid_t stack) {
  std::string text;
  ::H5Ewalk2(stack, H5E_WALK_DOWNWARD, take_text, &text);
  if (text.find("version number") == std::string::npos) return shortened(text);
  return text + "; cuszi uses HDF5 " + library_version() +
         ", which may be too old for this file; rewrite it with h5repack";
}

std::string& reason_kept() {
  thread_local std::string reason;
  return reason;
}

herr_t keep_reason(hid_t stack, void* /*nothing*/) {
  reason_kept() = reason_in(stack);
  return 0;
}

}  // namespace

Handle::Handle(hid_t id, Close close, const Subject& subject)
    : id_(check(id, subject)), close_(close) {}

std::string kept_reason() { return reason_kept(); }

std::string library_version() {
  static const std::string version = [] {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ::H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
  }();
  return version;
}

void fail(const Subject& subject) {
  const std::string reason = reason_in(H5E_DEFAULT);
  const std::string message =
      subject.name + ": HDF5 fails: " + (reason.empty() ? "no reason given" : reason);
  if (subject.is_output) throw OutputError(message);
  throw InputError(message);
}

void keep_reasons() {
  reason_kept().clear();
  ::H5Eset_auto2(H5E_DEFAULT, keep_reason, nullptr);
}

void prepare_library() {
  static const bool prepared = [] {
    ::H5dont_atexit();  // unwritable files are still open and would fail again
    library_version();  // later, this would clear the error stack
    keep_reasons();
    return ::H5Zregister(::H5PLget_plugin_info()) >= 0;
  }();
  if (!prepared) fail("the cuszi filter");
}

Values::Values(hid_t type, hid_t space, const Subject& subject)
    : type_(type),
      space_(space),
      count_(static_cast<std::size_t>(check(::H5Sget_simple_extent_npoints(space), subject))),
      value_bytes_(::H5Tget_size(type)),
      bytes_(count_ * value_bytes_) {}

Values::~Values() {
  if (count_ != 0) ::H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data());
}

Handle native_type(hid_t dataset, const Subject& subject) {
  const Handle stored(::H5Dget_type(dataset), ::H5Tclose, subject);
  Handle native(::H5Tcopy(stored.get()), ::H5Tclose, subject);
  check(::H5Tset_order(native.get(), H5T_ORDER_LE), subject);
  return native;
}

bool has_variable_length(hid_t type) {
  const H5T_class_t kind = ::H5Tget_class(type);
  if (kind == H5T_VLEN || (kind == H5T_STRING && ::H5Tis_variable_str(type) > 0)) return true;
  if (kind == H5T_ARRAY) {
    const Handle inner(::H5Tget_super(type), ::H5Tclose, "a type");
    return has_variable_length(inner.get());
  }
  if (kind != H5T_COMPOUND) return false;
  for (int i = 0; i < ::H5Tget_nmembers(type); ++i) {
    const Handle inner(::H5Tget_member_type(type, static_cast<unsigned>(i)), ::H5Tclose, "a type");
    if (has_variable_length(inner.get())) return true;
  }
  return false;
}

}  // namespace cuszi::hdf5
