#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/command_words.hpp"
#include "app/cli/input_files.hpp"
#include "app/cli/options.hpp"
#include "codec/settings/option_table.hpp"
#include "codec/settings/option_text.hpp"

namespace cuszi::app {

// Adds options; values must outlive the parsing.

/// The label for parse(label, text) is the long one of `names`.
template <class Value, class Parse>
CLI::Option* add_value(CLI::App& app, const char* group, const std::string& names,
                       const std::string& values, const std::string& help, Value& value,
                       const Parse& parse) {
  const auto read = [&value, parse, label = names.substr(names.find("--"))](
                        const std::string& text) { value = parse(label, text); };
  CLI::Option* const option = app.add_option_function<std::string>(names, read, help);
  return option->type_name(values)->group(group);
}

/// `words` are separated by "|", in enumerator order.
template <class Enum, class Value>
CLI::Option* add_word(CLI::App& app, const char* group, const std::string& names,
                      const std::string& words, const std::string& help, Value& value) {
  const auto parse = [words](const std::string& label, const std::string& text) {
    return static_cast<Enum>(parse_word(label, text, words));
  };
  return add_value(app, group, names, words, help, value, parse);
}

/// May be given several times.
void add_repeated(CLI::App& app, const char* group, const std::string& names,
                  const std::string& values, const std::string& help,
                  const std::function<void(const Words&)>& take);

/// Parser of an integer.
inline auto count_between(std::uint64_t least, std::uint64_t most) {
  return [=](std::string_view label, std::string_view text) {
    return parse_count(label, text, least, most);
  };
}

CLI::Option* add_dims_option(CLI::App& app, std::optional<Dims>& dims, const std::string& help);

/// From the option table.
void add_options(CLI::App& app, cuszi_options& options,
                 std::initializer_list<std::string_view> names);

/// Compression options, except `names`.
void add_options_but(CLI::App& app, cuszi_options& options,
                     std::initializer_list<std::string_view> names);

/// `name` has no dashes.
bool is_given(const CLI::App& app, std::string_view name);

/// Throws UsageError for given options without effect.
void check_use(const CLI::App& app, const FieldSettings& settings);

/// Throws UsageError for given options without effect in a copy.
void check_copy_options(const CLI::App& app);

/// Files, --recursive, --filelist.
void add_inputs(CLI::App& app, const std::string& name, InputFiles& inputs,
                const std::string& help);

/// --dims, --dims-xyz, --type, --skip-bytes, --byte-order.
void add_field_options(CLI::App& app, FieldOptions& field);

void add_type_option(CLI::App& app, std::optional<DType>& dtype,
                     const std::string& help = "Type of the values (default: from the file name)");

void add_byte_order_option(CLI::App& app, ByteOrder& order);

void add_json_option(CLI::App& app, RunOptions& run);

/// --json, --quiet.
void add_report_options(CLI::App& app, RunOptions& run);

/// --verbose; call after add_report_options().
void add_verbose_option(CLI::App& app, RunOptions& run);

/// -o, --stdout, --force, --keep.
void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run);

/// "NAME=0.01" or "NAME=abs-or-pwrel:0.01,1e-3"; `others` gives the rest. Throws UsageError.
VariableBound parse_variable_bound(std::string_view label, std::string_view text,
                                   const AskedBound& others);

}  // namespace cuszi::app
