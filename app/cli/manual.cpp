#include "app/cli/manual.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/completions.h"
#include "app/cli/version.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// Text as troff shows it unchanged: a back-slash and a hyphen are its own, and so is a line that begins with a dot or a quote.
std::string troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// "-o,--output" and what it takes, or "TRACE".
std::string term_of(const CLI::Option& option) {
  std::string term = "\\fB" + troff(option.get_name(option.get_positional(), !option.get_positional())) + "\\fR";
  const bool takes_value = option.get_type_size() != 0 && !option.get_positional();
  if (takes_value && !option.get_type_name().empty()) term += " \\fI" + troff(option.get_type_name()) + "\\fR";
  return term;
}

std::string synopsis_of(const CLI::App& command, const std::string& name) {
  std::string line = "\\fB" + troff(name) + "\\fR [\\fIOPTION\\fR]...";
  for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string word =
        "\\fI" + troff(option->get_name(true)) + "\\fR" + (option->get_items_expected_max() > 1 ? "..." : "");
    line += option->get_required() ? " " + word : " [" + word + "]";
  }
  return line;
}

std::string options_of(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    std::string what = option->get_description();
    if (!option->get_default_str().empty()) what += " (default: " + option->get_default_str() + ")";
    out += ".TP\n" + term_of(*option) + "\n" + troff(what) + "\n";
  }
  return out;
}

std::string all_pages(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out += fmt::format("{}.BR gapscope\\-{} (1)", out.empty() ? "" : " ,\n", troff(command->get_name()));
  return out + "\n";
}

std::string page(const CLI::App& command, const std::string& name, const std::string& help, const std::string& commands,
                 const std::string& see_also) {
  const std::size_t space = name.find(' ');
  const std::string one_word = space == std::string::npos ? name : name.substr(0, space) + "-" + name.substr(space + 1);
  std::string upper = one_word;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = fmt::format(".TH {} 1 \"\" \"Gapscope {}\" \"Gapscope\"\n", troff(upper), kVersion);
  out += fmt::format(".SH NAME\n{} \\- {}\n", troff(one_word), troff(help.substr(0, help.find('\n'))));
  out += ".SH SYNOPSIS\n" + synopsis_of(command, name) + "\n";
  out += ".SH DESCRIPTION\n" + troff(help) + "\n";
  if (!command.get_footer().empty()) out += ".PP\n" + troff(command.get_footer()) + "\n";
  out += ".SH OPTIONS\n" + options_of(command) + commands;
  out +=
      ".SH EXIT STATUS\n0: done. 1: a file could not be read or written. 2: the command line is wrong. 3: a condition of "
      "\\-\\-fail\\-on or \\-\\-fail\\-if holds.\n";
  return out + ".SH SEE ALSO\n" + see_also;
}

}  // namespace

std::vector<ManualFile> manual_files(const CLI::App& app) {
  std::vector<ManualFile> files;
  std::string commands = ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    commands += ".TP\n\\fB" + troff(name) + "\\fR\n" + troff(command->get_description()) + "\n";
    files.push_back({"man/man1/gapscope-" + name + ".1",
                     page(*command, "gapscope " + name, command->get_description(), "", ".BR gapscope (1)\n")});
  }
  files.push_back({"man/man1/gapscope.1", page(app, "gapscope", app.get_description(), commands, all_pages(app))});
  files.push_back({"bash-completion/completions/gapscope", bash_completion(app)});
  files.push_back({"zsh/vendor-completions/_gapscope", zsh_completion(app)});
  files.push_back({"fish/vendor_completions.d/gapscope.fish", fish_completion(app)});
  return files;
}

int write_manual(const CLI::App& app, const std::string& folder) {
  for (const ManualFile& file : manual_files(app)) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) {
      std::fprintf(stderr, "gapscope: %s cannot be written.\n", printable(path.string()).c_str());
      return kBadInput;
    }
  }
  return kOk;
}

}  // namespace gapscope
