// In place of igzip's own, which its callers declare with another type of length where a size_t has 32 bits: WebAssembly calls no
// function by another type.
#include <stdint.h>
#include <zlib.h>

uint32_t adler32_base(uint32_t adler, unsigned char* bytes, uint64_t size);
uint32_t adler32_base(uint32_t adler, unsigned char* bytes, uint64_t size) {
  return (uint32_t)adler32(adler, bytes, (uInt)size);  // callers hold no more than a piece
}
