#include "app/cli/manual.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/version.h"

namespace gapscope {
namespace {

// What a shell offers after `gapscope`: commands, the options of the command that is there, the words that an option takes,
// and files. Each is a whole file for its shell.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return !o->get_positional(); });
}

// --size and -o of an option that has both.
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  for (const std::string& name : option.get_snames()) out.push_back("-" + name);
  return out;
}

bool takes_value(const CLI::Option& option) { return option.get_type_size() != 0; }

// The words that CLI11 accepts, which it shows as TEXT:{a,b}.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos || close < open) return words;
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(type.find(',', at), close);
    words.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::vector<std::string> all_spellings(const CLI::App& command) {
  std::vector<std::string> out;
  for (const CLI::Option* option : options_of(command))
    for (std::string& spelling : spellings(*option)) out.push_back(std::move(spelling));
  return out;
}

// Between single quotes of a shell; fish and bash end the quotes for one inside.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

// zsh's _arguments has a meaning for these in what an option says.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// bash: what the option before the word takes; a pattern for each that takes one of some words.
std::string bash_values(const CLI::App& command, const std::string& name) {
  std::string out;
  for (const CLI::Option* option : options_of(command)) {
    const std::vector<std::string> words = words_of(*option);
    if (words.empty()) continue;
    for (const std::string& spelling : spellings(*option))
      out += fmt::format("    {}:{}) words={} ;;\n", name, spelling, shell_quoted(joined(words, " ")));
  }
  return out;
}

std::string zsh_options(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : options_of(command)) {
    const std::vector<std::string> words = words_of(*option);
    std::string value;
    if (takes_value(*option)) value = words.empty() ? ":value:_files" : ":value:(" + joined(words, " ") + ")";
    for (const std::string& spelling : spellings(*option))
      out += " \\\n        " + shell_quoted(fmt::format("{}[{}]{}", spelling, zsh_text(option->get_description()), value));
  }
  return out;
}

std::string fish_options(const CLI::App& command, const std::string& when) {
  std::string out;
  for (const CLI::Option* option : options_of(command)) {
    std::string line = "complete -c gapscope -n " + shell_quoted(when);
    for (const std::string& name : option->get_snames()) line += " -s " + name;
    for (const std::string& name : option->get_lnames()) line += " -l " + name;
    if (takes_value(*option)) line += " -r";
    if (const auto words = words_of(*option); !words.empty()) line += " -f -a " + shell_quoted(joined(words, " "));
    out += line + " -d " + shell_quoted(option->get_description()) + "\n";
  }
  return out;
}

std::string bash_completion(const CLI::App& app) {
  std::string names, options, values;
  for (const CLI::App* command : commands_of(app)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    options += fmt::format("    {}) options={} ;;\n", command->get_name(), shell_quoted(joined(all_spellings(*command), " ")));
    values += bash_values(*command, command->get_name());
  }
  return fmt::format(R"(# bash completion of gapscope
_gapscope() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} options='' words=''
  case "$command" in
{}    *) command=''; options={} ;;
  esac
  case "$command:${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word"))
    [ "$COMP_CWORD" -ne 1 ] || COMPREPLY+=($(compgen -W {} -- "$word"))
  fi
}}
complete -F _gapscope gapscope
)",
                     options, shell_quoted(joined(all_spellings(app), " ")), values, shell_quoted(names));
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(app)) {
    names += fmt::format("    {}\n", shell_quoted(command->get_name() + ":" + zsh_text(command->get_description())));
    cases +=
        fmt::format("    {})\n      _arguments{} \\\n        '*:file:_files' ;;\n", command->get_name(), zsh_options(*command));
  }
  return fmt::format(R"(#compdef gapscope
_gapscope() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    _files
    return
  fi
  local command=$words[2]
  case $command in
{}    *)
      _arguments{} \
        '*:file:_files' ;;
  esac
}}
_gapscope "$@"
)",
                     names, cases, zsh_options(app));
}

std::string fish_completion(const CLI::App& app) {
  std::string out = "# fish completion of gapscope\n" + fish_options(app, "__fish_use_subcommand");
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format("complete -c gapscope -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                       shell_quoted(command->get_description()));
    out += fish_options(*command, "__fish_seen_subcommand_from " + command->get_name());
  }
  return out;
}

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

std::string options_text(const CLI::App& command) {
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
  out += ".SH OPTIONS\n" + options_text(command) + commands;
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
      complain(kBadInput, path.string() + " cannot be written.");
      return kBadInput;
    }
  }
  return kOk;
}

}  // namespace gapscope
