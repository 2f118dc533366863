#include "core/load/file_writer.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>

#include "core/base/text.h"

namespace gapscope {

struct FileWriter::Packer {
  Packer() { usable = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK; }
  ~Packer() {
    if (usable) deflateEnd(&stream);
  }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  static constexpr int kGzip = 15 + 16;  // 32 KB window, gzip framing
  static constexpr int kMemory = 8;      // zlib's default
  z_stream stream{};
  bool usable = false;
  std::array<Bytef, 64 * 1024> out{};
};

FileWriter::FileWriter(std::string path) : path_(std::move(path)), beside_(path_ + ".part") {
  if (path_.ends_with(".gz")) packer_ = std::make_unique<Packer>();
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path) {
  std::unique_ptr<FileWriter> writer(new FileWriter(path));
  writer->file_ = std::fopen(writer->beside_.c_str(), "wbe");
  if (writer->file_ == nullptr) {
    writer->trouble_ = errno;
    return writer->failure();
  }
  if (writer->packer_ && !writer->packer_->usable) return Error{"Out of memory."};
  return writer;
}

FileWriter::~FileWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(beside_.c_str());
}

Error FileWriter::failure() const {
  return Error{fmt::format("{} cannot be written: {}. Name a place where you may write and where there is room.", printable(path_),
                           std::strerror(trouble_))};
}

void FileWriter::put(const char* bytes, std::size_t size) {
  if (trouble_ == 0 && std::fwrite(bytes, 1, size, file_) != size) trouble_ = errno != 0 ? errno : EIO;
}

void FileWriter::write(std::string_view text) {
  text_bytes_ += text.size();
  if (!packer_) return put(text.data(), text.size());
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
      put(reinterpret_cast<const char*>(packer_->out.data()), packer_->out.size() - z.avail_out);
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
    put(reinterpret_cast<const char*>(packer_->out.data()), packer_->out.size() - packer_->stream.avail_out);
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && trouble_ == 0) trouble_ = errno;
  if (trouble_ == 0 && std::rename(beside_.c_str(), path_.c_str()) != 0) trouble_ = errno;
  if (trouble_ == 0) return std::nullopt;
  ::unlink(beside_.c_str());
  return failure();
}

}  // namespace gapscope
