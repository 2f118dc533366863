#include "core/view/allowed_sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::array<std::string_view, 14> kEndings = {".py", ".pyx", ".pyi", ".pxd", ".cu", ".cuh", ".cpp",
                                                       ".cc", ".cxx", ".c",   ".hpp", ".hh", ".hxx", ".h"};

bool is_source_name(std::string_view name) {
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// Where a link of a source's name leads to something else, that is none.
std::filesystem::path real_source(const std::string& path) {
  std::error_code trouble;
  std::filesystem::path real = std::filesystem::canonical(path, trouble);
  const bool is_source = !trouble && is_source_name(real.native()) && std::filesystem::is_regular_file(real, trouble);
  return is_source ? real : std::filesystem::path();
}

// Empty where it cannot be read.
std::string beginning_of(int fd, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::read(fd, text.data() + size, most - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

AllowedSources::AllowedSources(const std::vector<std::string>& lines) {
  std::vector<std::string> there;
  for (const std::string& line : lines) {
    const std::size_t at = line.find('=');
    const std::string folder = at == line.npos ? std::string() : line.substr(at + 1);
    if (folder.starts_with('/') && ReadableFolders::make({folder}).ok()) there.push_back(folder);
  }
  if (Result<ReadableFolders> folders = ReadableFolders::make(there)) folders_ = std::move(*folders);
}

SourceText AllowedSources::read(const std::string& path, std::size_t most) const {
  std::error_code missing;
  const std::filesystem::path real = std::filesystem::canonical(path, missing);
  if (missing || !folders_.holds(real)) return {SourceText::Kind::not_allowed};
  SourceText out{SourceText::Kind::no_source};
  const int fd = is_source_name(real.native()) ? folders_.open(real.string(), O_RDONLY) : -1;
  if (fd < 0) return out;
  struct stat info {};
  const bool is_file = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (is_file) out.text = beginning_of(fd, std::min(most, static_cast<std::size_t>(info.st_size)));
  ::close(fd);
  if (out.text.find('\0') != std::string::npos) out.text.clear();
  out.is_cut = static_cast<std::size_t>(info.st_size) > out.text.size();
  if (!out.text.empty() || (is_file && info.st_size == 0)) out.kind = SourceText::Kind::read;
  return out;
}

std::string allow_sentence(const std::string& folder) {
  return "The recording names this file. It is read once you allow source files below " + printable(folder) + " to be shown.";
}

std::string folder_to_allow(const std::string& path) {
  const std::string folder = real_source(path).parent_path().string();
  return folder.find('\n') == folder.npos ? folder : std::string();  // a line of the settings is one folder
}

}  // namespace gapscope
