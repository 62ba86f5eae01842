#include "bindings/containers/hdf5_objects.hpp"

#include <utility>

#include "bindings/containers/hdf5_references.hpp"
#include "core/base/error.hpp"

namespace cuszi::hdf5 {

namespace {

herr_t take_name(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// In creation order, if tracked.
std::vector<std::string> link_names(hid_t group, hid_t creation, const Subject& subject) {
  unsigned order = 0;
  check(::H5Pget_link_creation_order(creation, &order), subject);
  const H5_index_t index =
      (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  hsize_t at = 0;
  check(::H5Literate(group, index, H5_ITER_INC, &at, take_name, &names), subject);
  return names;
}

/// HDF5 1.10 corrupts memory when it searches all named types, beside external links.
H5O_mcdt_search_ret_t look_no_further(void* /*nothing*/) { return H5O_MCDT_SEARCH_STOP; }

H5O_info_t info_of(hid_t place, const std::string& name, const Subject& subject) {
  H5O_info_t info{};
  check(::H5Oget_info_by_name2(place, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), subject);
  return info;
}

}  // namespace

void create_like(hid_t group, hid_t properties, const Subject& subject) {
  const Handle own(::H5Gget_create_plist(group), ::H5Pclose, subject);
  unsigned order = 0;
  unsigned most_compact = 0;
  unsigned least_dense = 0;
  hbool_t has_times = false;
  check(::H5Pget_link_creation_order(own.get(), &order), subject);
  check(::H5Pset_link_creation_order(properties, order), subject);
  check(::H5Pget_link_phase_change(own.get(), &most_compact, &least_dense), subject);
  check(::H5Pset_link_phase_change(properties, most_compact, least_dense), subject);
  check(::H5Pget_attr_creation_order(own.get(), &order), subject);
  check(::H5Pset_attr_creation_order(properties, order), subject);
  check(::H5Pget_attr_phase_change(own.get(), &most_compact, &least_dense), subject);
  check(::H5Pset_attr_phase_change(properties, most_compact, least_dense), subject);
  check(::H5Pget_obj_track_times(own.get(), &has_times), subject);
  check(::H5Pset_obj_track_times(properties, has_times), subject);
}

ObjectCopier::ObjectCopier(Container& container, hid_t from, const OutputFile& to, Names names,
                           const std::vector<FilteredVariable>& filtered, const CopyLook& look)
    : container_(container),
      from_(from),
      to_(to),
      names_(std::move(names)),
      source_(names_.from),
      output_(names_.to),
      look_(look),
      references_(from, to.get()),
      link_properties_(::H5Pcreate(H5P_LINK_CREATE), ::H5Pclose, output_),
      copy_properties_(::H5Pcreate(H5P_OBJECT_COPY), ::H5Pclose, output_) {
  // HDF5 1.10 corrupts memory when it copies many attributes, one of variable length.
  check(::H5Pset_copy_object(copy_properties_.get(),
                             H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG | H5O_COPY_WITHOUT_ATTR_FLAG),
        output_);
  check(::H5Pset_mcdt_search_cb(copy_properties_.get(), look_no_further, nullptr), output_);
  for (const FilteredVariable& variable : filtered) {
    filtered_[info_of(from, variable.variable.name, source_).addr] = &variable;
  }
}

void ObjectCopier::run() {
  const Handle from(::H5Gopen2(from_, "/", H5P_DEFAULT), ::H5Gclose, source_);
  const Handle to(::H5Gopen2(to_.get(), "/", H5P_DEFAULT), ::H5Gclose, output_);
  references_.add(info_of(from_, "/", source_).addr, "/");
  copy_group(from.get(), to.get(), "/");
  for (const std::string& path : paths_) translate_references(path);
}

/// Into the empty group `to`; `path` ends with a slash.
void ObjectCopier::copy_group(hid_t from, hid_t to, const std::string& path) {
  paths_.push_back(path);
  copy_attributes(from, to, references_, names_);
  const Handle creation(::H5Gget_create_plist(from), ::H5Pclose, source_);
  for (const std::string& name : link_names(from, creation.get(), source_)) {
    copy_link(from, to, name, path + name);
    to_.require_written();
  }
}

void ObjectCopier::copy_link(hid_t from, hid_t to, const std::string& name,
                             const std::string& path) {
  H5L_info_t info{};
  check(::H5Lget_info(from, name.c_str(), &info, H5P_DEFAULT), source_);
  check(::H5Pset_char_encoding(link_properties_.get(), info.cset), output_);
  switch (info.type) {
    case H5L_TYPE_SOFT: copy_soft_link(from, to, name, info.u.val_size); return;
    case H5L_TYPE_EXTERNAL: copy_external_link(from, to, name, info.u.val_size); return;
    case H5L_TYPE_HARD: copy_object(from, to, name, path); return;
    default: throw InputError(path + ": is a link of an unsupported kind");
  }
}

void ObjectCopier::copy_soft_link(hid_t from, hid_t to, const std::string& name, std::size_t size) {
  std::string target(size, '\0');
  check(::H5Lget_val(from, name.c_str(), target.data(), size, H5P_DEFAULT), source_);
  check(::H5Lcreate_soft(target.c_str(), to, name.c_str(), link_properties_.get(), H5P_DEFAULT),
        output_);
}

void ObjectCopier::copy_external_link(hid_t from, hid_t to, const std::string& name,
                                      std::size_t size) {
  std::string value(size, '\0');
  const char* file = nullptr;
  const char* object = nullptr;
  check(::H5Lget_val(from, name.c_str(), value.data(), size, H5P_DEFAULT), source_);
  check(::H5Lunpack_elink_val(value.data(), size, nullptr, &file, &object), source_);
  check(::H5Lcreate_external(file, object, to, name.c_str(), link_properties_.get(), H5P_DEFAULT),
        output_);
}

void ObjectCopier::copy_object(hid_t from, hid_t to, const std::string& name,
                               const std::string& path) {
  const H5O_info_t info = info_of(from, name, source_);
  if (const std::string* const there = references_.path_of(info.addr)) {
    check(::H5Lcreate_hard(to_.get(), there->c_str(), to, name.c_str(), link_properties_.get(),
                           H5P_DEFAULT),
          output_);
    return;
  }
  references_.add(info.addr, path);
  const LinkPlace place{to, name.c_str(), link_properties_.get()};
  if (info.type == H5O_TYPE_GROUP) {
    const Handle group(::H5Gopen2(from, name.c_str(), H5P_DEFAULT), ::H5Gclose, source_);
    const Handle creation(::H5Pcreate(H5P_GROUP_CREATE), ::H5Pclose, output_);
    create_like(group.get(), creation.get(), source_);
    const Handle copy(
        ::H5Gcreate2(to, name.c_str(), link_properties_.get(), creation.get(), H5P_DEFAULT),
        ::H5Gclose, output_);
    copy_group(group.get(), copy.get(), path + '/');
    return;
  }
  paths_.push_back(path);
  if (info.type == H5O_TYPE_DATASET && copy_dataset(from, place, info.addr)) return;
  check(::H5Ocopy(from, name.c_str(), to, name.c_str(), copy_properties_.get(),
                  link_properties_.get()),
        output_);
  if (info.type == H5O_TYPE_NAMED_DATATYPE) {
    check(::H5Padd_merge_committed_dtype_path(copy_properties_.get(), path.c_str()), output_);
  }
  const Handle object(::H5Oopen(from, name.c_str(), H5P_DEFAULT), ::H5Oclose, source_);
  const Handle copy(::H5Oopen(to, name.c_str(), H5P_DEFAULT), ::H5Oclose, output_);
  copy_attributes(object.get(), copy.get(), references_, names_);
}

/// Filtered ones, and those that H5Ocopy() breaks.
bool ObjectCopier::copy_dataset(hid_t from, const LinkPlace& to, haddr_t address) {
  const Handle dataset(::H5Dopen2(from, to.name, H5P_DEFAULT), ::H5Dclose, source_);
  const auto filtered = filtered_.find(address);
  const bool is_filtered = filtered != filtered_.end();
  if (!is_filtered && !has_distant_fill(dataset.get(), source_)) return false;
  const Handle copy =
      is_filtered ? create_filtered(dataset.get(), to, *filtered->second, references_, output_)
                  : copy_by_values(dataset.get(), to, references_, output_);
  copy_attributes(dataset.get(), copy.get(), references_, names_);
  if (is_filtered) copy_values(container_, *filtered->second, copy.get(), output_, look_);
  return true;
}

void ObjectCopier::translate_references(const std::string& path) {
  const Handle from(::H5Oopen(from_, path.c_str(), H5P_DEFAULT), ::H5Oclose, source_);
  const Handle to(::H5Oopen(to_.get(), path.c_str(), H5P_DEFAULT), ::H5Oclose, output_);
  translate_attributes(from.get(), to.get(), references_, names_);
  if (::H5Iget_type(from.get()) != H5I_DATASET) return;
  const Handle type(::H5Dget_type(from.get()), ::H5Tclose, source_);
  if (holds_references(type.get())) references_.translate_dataset(from.get(), to.get());
}

}  // namespace cuszi::hdf5
