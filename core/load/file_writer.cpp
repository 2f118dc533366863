#include "core/load/file_writer.h"

#include <algorithm>
#include <array>

#include <zlib.h>

namespace gapscope {

struct FileWriter::Packer {
  Packer() { usable = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK; }
  ~Packer() {
    if (usable) deflateEnd(&stream);
  }
  void pass_on(OutputFile& file) const {
    file.write({reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out});
  }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  static constexpr int kGzip = 15 + 16;  // 32 KB window, gzip framing
  static constexpr int kMemory = 8;      // zlib's default
  z_stream stream{};
  bool usable = false;
  std::array<Bytef, 64 * 1024> out{};
};

FileWriter::FileWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {
  if (path().ends_with(".gz")) packer_ = std::make_unique<Packer>();
}
FileWriter::~FileWriter() = default;

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, const OutputOptions& options) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::create(path, options);
  if (!file) return file.error();
  std::unique_ptr<FileWriter> writer(new FileWriter(std::move(*file)));
  if (writer->packer_ && !writer->packer_->usable) return Error{"Out of memory."};
  return writer;
}

void FileWriter::write(std::string_view text) {
  text_bytes_ += text.size();
  if (!packer_) return file_->write(text);
  // Text without end is the end of the stream: finish() says so with an empty one.
  z_stream& z = packer_->stream;
  while (!text.empty()) {
    const std::size_t piece = std::min<std::size_t>(text.size(), std::size_t{1} << 30);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(piece);
    while (z.avail_in > 0) {
      z.next_out = packer_->out.data();
      z.avail_out = static_cast<uInt>(packer_->out.size());
      deflate(&z, Z_NO_FLUSH);
      packer_->pass_on(*file_);
    }
    text.remove_prefix(piece);
  }
}

std::optional<Error> FileWriter::finish() {
  for (int state = Z_OK; packer_ && state == Z_OK;) {
    packer_->stream.avail_in = 0;
    packer_->stream.next_out = packer_->out.data();
    packer_->stream.avail_out = static_cast<uInt>(packer_->out.size());
    state = deflate(&packer_->stream, Z_FINISH);
    packer_->pass_on(*file_);
  }
  return file_->finish();
}

}  // namespace gapscope
