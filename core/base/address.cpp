#include "core/base/address.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

// For a shell.
std::string for_shell(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "datasets/OWNER/NAME/a/b.json": the repository, then the file in it.
std::string hugging_face_command(std::string_view place) {
  std::string kind;
  for (const std::string_view word : {"datasets/", "spaces/", "models/"})
    if (place.starts_with(word)) {
      kind = word == "models/" ? "" : fmt::format(" --repo-type {}", word.substr(0, word.size() - 2));
      place.remove_prefix(word.size());
      break;
    }
  const std::size_t owner = place.find('/'), name = owner == place.npos ? place.npos : place.find('/', owner + 1);
  if (name == place.npos) return fmt::format("hf download {}{}", for_shell(place), kind);
  return fmt::format("hf download {} {}{} --local-dir .", for_shell(place.substr(0, name)), for_shell(place.substr(name + 1)),
                     kind);
}

// A page of GitHub shows a file; its bytes are elsewhere.
std::string file_of_page(std::string_view address) {
  std::string out(address);
  const std::size_t blob = out.find("/blob/");
  if (out.find("://github.com/") != out.npos && blob != out.npos) out.replace(blob, 6, "/raw/");
  if (out.find("://huggingface.co/") != out.npos && blob != out.npos) out.replace(blob, 6, "/resolve/");
  return out;
}

}  // namespace

std::string fetch_command(std::string_view text) {
  const std::size_t at = text.find("://");
  if (at == text.npos || at == 0) return {};
  std::string scheme(text.substr(0, at));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto is = [&](std::string_view name) { return scheme == name; };
  if (is("http") || is("https") || is("ftp")) return "curl -LO " + for_shell(file_of_page(text));
  if (is("s3")) return "aws s3 cp " + for_shell(text) + " .";
  if (is("gs")) return "gcloud storage cp " + for_shell(text) + " .";
  if (is("hf")) return hugging_face_command(text.substr(at + 3));
  if (is("az") || is("abfs") || is("abfss") || is("wasbs")) return "azcopy copy " + for_shell(text) + " .";
  if (is("hdfs")) return "hdfs dfs -get " + for_shell(text) + " .";
  if (is("sftp") || is("scp") || is("ssh")) return "scp " + for_shell(text) + " .";
  return {};
}

std::string address_error(const std::string& text) {
  const std::string command = fetch_command(text);
  if (command.empty()) return {};
  return fmt::format("{} is an address, and Gapscope opens files. Fetch it first: {}", printable(text), printable(command));
}

std::string without_file_scheme(const std::string& text) {
  constexpr std::string_view kScheme = "file://", kHere = "localhost/";
  if (!text.starts_with(kScheme)) return text;
  std::string_view rest = std::string_view(text).substr(kScheme.size());
  if (rest.starts_with(kHere)) rest.remove_prefix(kHere.size() - 1);
  if (!rest.starts_with('/')) return text;
  std::string out;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    unsigned value = 0;
    const bool is_code = rest[i] == '%' && i + 2 < rest.size() &&
                         std::from_chars(rest.data() + i + 1, rest.data() + i + 3, value, 16).ptr == rest.data() + i + 3;
    out += is_code && value != 0 ? static_cast<char>(value) : rest[i];
    if (is_code && value != 0) i += 2;
  }
  return out;
}

}  // namespace gapscope
