#pragma once
// An output file (core/base/output_file.h), packed where its name ends in .gz.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/output_file.h"

namespace gapscope {

class FileWriter {
 public:
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, const OutputOptions& options);
  // Without finish(), nothing stays.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // After a failure further text is ignored; finish() says why.
  void write(std::string_view text);
  bool failed() const { return file_->failed(); }
  std::optional<Error> finish();
  std::uint64_t text_bytes() const { return text_bytes_; }
  const std::string& path() const { return file_->path(); }

 private:
  explicit FileWriter(std::unique_ptr<OutputFile> file);
  struct Packer;

  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<Packer> packer_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace gapscope
