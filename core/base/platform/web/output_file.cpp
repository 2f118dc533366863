#include "core/base/output_file.h"

#include <emscripten/em_js.h>
#include <sys/stat.h>

#include <fstream>
#include <utility>

#include "core/base/platform/web/stored_folder.h"

namespace gapscope {
namespace {

// A whole path stays in the browser, a name downloaded; browsers give it a free one where there is one already. Any thread:
// the page's own saves.
EM_JS(void, gapscope_save, (const char* name, const char* bytes, unsigned size), {
  const copy = new Uint8Array(size);
  copy.set(HEAPU8.subarray(bytes, bytes + size));
  const what = {name : UTF8ToString(name), bytes : copy};
  if (typeof document != 'undefined')
    window.gapscopeSave(what);
  else
    new BroadcastChannel('gapscope-save').postMessage(what);
})

}  // namespace

struct OutputFile::Target {};

OutputFile::OutputFile(std::string path, const OutputOptions& options)
    : path_(std::move(path)), options_(options), name_(path_.substr(path_.rfind('/') + 1)) {}

OutputFile::~OutputFile() = default;

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, const OutputOptions& options) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, options));
  file->options_.inputs = {};
  return file;
}

void OutputFile::write(std::string_view text) { buffer_ += text; }

std::optional<Error> OutputFile::finish() {
  const bool is_kept = path_.starts_with(kStoredFolder);
  if (is_kept)
    std::ofstream(path_, std::ios::binary) << buffer_;  // for those who read it again
  else
    path_ = name_;
  gapscope_save(path_.c_str(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
  return std::nullopt;
}

bool is_standard_output(const std::string& path) { return path == "-"; }

}  // namespace gapscope
