#include "app/cli/completions.h"

#include <CLI/CLI.hpp>
#include <vector>

#include <fmt/format.h>

namespace gapscope {
namespace {

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

}  // namespace

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

}  // namespace gapscope
