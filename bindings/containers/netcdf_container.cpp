#include <netcdf.h>

#include <algorithm>
#include <array>

#include "bindings/containers/hdf5_handle.hpp"
#include "bindings/containers/netcdf.hpp"
#include "codec/files/container.hpp"
#include "core/base/error.hpp"

namespace cuszi::netcdf {

namespace {

struct Place {
  Variable variable;
  int group;
  int id;
};

/// NetCDF's first HDF5 file resets HDF5's error handler.
void prepare_libraries() {
  hdf5::prepare_library();
  int nothing = 0;
  if (::nc_create("nothing", NC_NETCDF4 | NC_DISKLESS, &nothing) == NC_NOERR) ::nc_abort(nothing);
  hdf5::keep_reasons();
}

struct File {
  int id = -1;

  explicit File(const std::string& path) {
    prepare_libraries();
    check(::nc_open(path.c_str(), NC_NOWRITE, &id), path);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::nc_close(id); }
};

class NetcdfContainer final : public Container {
 public:
  explicit NetcdfContainer(const std::string& path) : path_(path), file_(path) {
    std::set<std::string> auxiliary;
    add_group(file_.id, "", auxiliary);
    std::vector<Variable> marked = variables();
    mark_auxiliary(auxiliary, marked);
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].variable = marked[i];
  }

  std::vector<Variable> variables() override {
    std::vector<Variable> all;
    for (const Place& place : places_) all.push_back(place.variable);
    return all;
  }

  std::optional<Variable> find(const std::string& name) override {
    const Place* const place = place_of(name.substr(name.starts_with('/') ? 1 : 0));
    return place == nullptr ? std::nullopt : std::optional(place->variable);
  }

  void read(const Variable& variable, std::span<const std::uint64_t> first,
            std::span<const std::uint64_t> count, MutableBytes out) override {
    const Place* const place = place_of(variable.name);
    if (place == nullptr) throw InputError(path_ + ": has no variable " + variable.name);
    const std::vector<std::size_t> start(first.begin(), first.end());
    const std::vector<std::size_t> counts(count.begin(), count.end());
    check(::nc_get_vara(place->group, place->id, start.data(), counts.data(), out.data()),
          path_ + ':' + variable.name);
  }

  void copy(const std::string& path, const std::string& name,
            const std::vector<FilteredVariable>& filtered, const CopyLook& look) override {
    copy_classic({file_.id, path_}, {path, name}, filtered, look);
  }

 private:
  void add_group(int group, const std::string& prefix, std::set<std::string>& auxiliary) {
    int count = 0;
    check(::nc_inq_nvars(group, &count), path_);
    for (int id = 0; id < count; ++id) {
      places_.push_back({describe(group, id, prefix), group, id});
      add_auxiliary_names(VariableAttributes(group, id), auxiliary);
    }
    check(::nc_inq_grps(group, &count, nullptr), path_);
    std::vector<int> groups(static_cast<std::size_t>(count));
    check(::nc_inq_grps(group, &count, groups.data()), path_);
    for (const int inner : groups) {
      std::array<char, NC_MAX_NAME + 1> name{};
      check(::nc_inq_grpname(inner, name.data()), path_);
      add_group(inner, prefix + name.data() + '/', auxiliary);
    }
  }

  const Place* place_of(const std::string& name) const {
    for (const Place& place : places_) {
      if (place.variable.name == name) return &place;
    }
    return nullptr;
  }

  std::string path_;
  File file_;
  std::vector<Place> places_;
};

}  // namespace

}  // namespace cuszi::netcdf

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) void cuszi_open_container(
    const std::string& path, std::unique_ptr<cuszi::Container>& opened) {
  opened = std::make_unique<cuszi::netcdf::NetcdfContainer>(path);
}

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) void cuszi_container_library(
    std::string& version) {
  version = ::nc_inq_libvers();  // "4.9.0 of ..."
  version.erase(std::min(version.find(' '), version.size()));
}
