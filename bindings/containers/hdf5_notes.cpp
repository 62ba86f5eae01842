#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "bindings/containers/hdf5_container.hpp"
#include "bindings/containers/hdf5_output.hpp"
#include "codec/files/copy_notes.hpp"
#include "core/base/error.hpp"

namespace cuszi::hdf5 {

namespace {

/// Files of before HDF5 1.8 have attributes of at most 64 KiB.
constexpr std::size_t most_text_bytes = 64'000;

/// Attributes of one object.
class Notebook {
 public:
  Notebook(const OutputFile& file, const std::string& path, const Subject& subject)
      : subject_(subject),
        object_(::H5Oopen(file.get(), path.c_str(), H5P_DEFAULT), ::H5Oclose, subject) {}

  void write(const NotedAttribute& attribute) const {
    const char* const name = attribute.name.c_str();
    if (check(::H5Aexists(object_.get(), name), subject_) > 0) {
      check(::H5Adelete(object_.get(), name), subject_);
    }
    if (const auto* const text = std::get_if<std::string>(&attribute.value)) {
      write_text(name, *text);
    } else if (const auto* const numbers = std::get_if<std::vector<double>>(&attribute.value)) {
      write_numbers(name, *numbers);
    }
  }

  /// The newest line comes first, as NCO and CDO have it. A history that is not one text stays as
  /// it is.
  void add_history(const std::string& line) const {
    constexpr const char* name = "history";
    std::string text = line;
    if (check(::H5Aexists(object_.get(), name), subject_) > 0) {
      if (!is_one_text(name)) return;
      const std::string before = DatasetAttributes(object_.get()).text(name);
      if (!before.empty()) text += '\n' + before;
    }
    if (text.size() <= most_text_bytes) write({name, text});
  }

 private:
  bool is_one_text(const char* name) const {
    const Handle found(::H5Aopen(object_.get(), name, H5P_DEFAULT), ::H5Aclose, subject_);
    const Handle type(::H5Aget_type(found.get()), ::H5Tclose, subject_);
    const Handle space(::H5Aget_space(found.get()), ::H5Sclose, subject_);
    return ::H5Tget_class(type.get()) == H5T_STRING &&
           ::H5Sget_simple_extent_npoints(space.get()) <= 1;
  }

  /// Writes a text in the form of NetCDF: one string of fixed length.
  void write_text(const char* name, const std::string& text) const {
    const bool is_ascii = std::none_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    const Handle type(::H5Tcopy(H5T_C_S1), ::H5Tclose, subject_);
    const Handle space(::H5Screate(H5S_SCALAR), ::H5Sclose, subject_);
    check(::H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1)), subject_);
    check(::H5Tset_cset(type.get(), is_ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8), subject_);
    write_value(name, type.get(), type.get(), space.get(), text.c_str());
  }

  void write_numbers(const char* name, const std::vector<double>& numbers) const {
    const hsize_t count = numbers.size();
    const Handle space(
        count == 1 ? ::H5Screate(H5S_SCALAR) : ::H5Screate_simple(1, &count, nullptr), ::H5Sclose,
        subject_);
    write_value(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space.get(), numbers.data());
  }

  void write_value(const char* name, hid_t stored, hid_t type, hid_t space,
                   const void* value) const {
    const Handle attribute(
        ::H5Acreate2(object_.get(), name, stored, space, H5P_DEFAULT, H5P_DEFAULT), ::H5Aclose,
        subject_);
    check(::H5Awrite(attribute.get(), type, value), subject_);
  }

  const Subject& subject_;
  Handle object_;
};

void write_notes(const OutputFile& file, const CopyNotes& notes, const Subject& subject) {
  for (const NotedVariable& variable : notes.variables) {
    const Notebook notebook(file, variable.name, subject);
    for (const NotedAttribute& attribute : variable.attributes) notebook.write(attribute);
  }
  if (!notes.history.empty()) Notebook(file, "/", subject).add_history(notes.history);
}

}  // namespace

}  // namespace cuszi::hdf5

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) void cuszi_write_notes(
    const std::string& path, const std::string& name, const cuszi::CopyNotes& notes) {
  const cuszi::hdf5::Subject subject(name, true);
  cuszi::hdf5::prepare_library();
  cuszi::hdf5::OutputFile file(path, subject);
  try {
    cuszi::hdf5::write_notes(file, notes, subject);
  } catch (const cuszi::Error&) {
    file.require_written();  // a write error takes precedence
    throw;
  }
  file.close();
}
