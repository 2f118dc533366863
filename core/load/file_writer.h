#pragma once
// A file that appears whole or not at all: written beside its place and moved there in the end. Packed where its name
// ends in .gz.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace gapscope {

class FileWriter {
 public:
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path);
  // Without finish(), nothing stays.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // After a failure further text is ignored; finish() says why.
  void write(std::string_view text);
  std::optional<Error> finish();
  std::uint64_t text_bytes() const { return text_bytes_; }

 private:
  explicit FileWriter(std::string path);
  struct Packer;
  void put(const char* bytes, std::size_t size);
  Error failure() const;

  std::string path_;
  std::string beside_;
  std::FILE* file_ = nullptr;
  std::unique_ptr<Packer> packer_;
  std::uint64_t text_bytes_ = 0;
  int trouble_ = 0;  // errno of the first failure
};

}  // namespace gapscope
