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

// Options of commands. The values must outlive the parsing.

/// An option whose text `parse(label, text)` makes `value` of; the label is the long one of
/// `names`.
template <class Value, class Parse>
CLI::Option* add_value(CLI::App& app, const char* group, const std::string& names,
                       const std::string& values, const std::string& help, Value& value,
                       const Parse& parse) {
  const auto read = [&value, parse, label = names.substr(names.find("--"))](
                        const std::string& text) { value = parse(label, text); };
  CLI::Option* const option = app.add_option_function<std::string>(names, read, help);
  return option->type_name(values)->group(group);
}

/// An option of one of the words that "|" divides in `words`, in the order of the enumerators.
template <class Enum, class Value>
CLI::Option* add_word(CLI::App& app, const char* group, const std::string& names,
                      const std::string& words, const std::string& help, Value& value) {
  const auto parse = [words](const std::string& label, const std::string& text) {
    return static_cast<Enum>(parse_word(label, text, words));
  };
  return add_value(app, group, names, words, help, value, parse);
}

/// An option that can be given several times, each with one text.
void add_repeated(CLI::App& app, const char* group, const std::string& names,
                  const std::string& values, const std::string& help,
                  const std::function<void(const Words&)>& take);

/// Makes a text a whole number in these limits.
inline auto count_between(std::uint64_t least, std::uint64_t most) {
  return [=](std::string_view label, std::string_view text) {
    return parse_count(label, text, least, most);
  };
}

/// --dims, slowest first.
CLI::Option* add_dims_option(CLI::App& app, std::optional<Dims>& dims, const std::string& help);

/// These options of the table.
void add_options(CLI::App& app, cuszi_options& options,
                 std::initializer_list<std::string_view> names);

/// All options of the table that compress, but these.
void add_options_but(CLI::App& app, cuszi_options& options,
                     std::initializer_list<std::string_view> names);

/// Whether an option was given, by its name without dashes.
bool is_given(const CLI::App& app, std::string_view name);

/// Throws UsageError if an option of the table was given that what `settings` choose would ignore.
void check_use(const CLI::App& app, const FieldSettings& settings);

/// Throws UsageError if an option was given that the copy of a file has no use for.
void check_copy_options(const CLI::App& app);

/// The files or archives that a command takes, --recursive, --filelist.
void add_inputs(CLI::App& app, const std::string& name, InputFiles& inputs,
                const std::string& help);

/// --dims, --dims-xyz, --type, --skip-bytes, --byte-order.
void add_field_options(CLI::App& app, FieldOptions& field);

/// --type.
void add_type_option(CLI::App& app, std::optional<DType>& dtype);

/// --byte-order.
void add_byte_order_option(CLI::App& app, ByteOrder& order);

/// --json.
void add_json_option(CLI::App& app, RunOptions& run);

/// --json, --quiet.
void add_report_options(CLI::App& app, RunOptions& run);

/// -o, --stdout, --force, --keep.
void add_output_options(CLI::App& app, std::optional<std::string>& output, RunOptions& run);

/// "NAME=0.01", "NAME=abs:0.01" or "NAME=abs-or-pwrel:0.01,1e-3". What it does not say is as of
/// `others`. Throws UsageError.
VariableBound parse_variable_bound(std::string_view label, std::string_view text,
                                   const AskedBound& others);

}  // namespace cuszi::app
