#include "storage/step_chunks.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "storage/packed_steps.h"

namespace llmb::storage {
namespace {

using parser::StepSample;

constexpr int kZstdLevel = 3;
// Of what is damaged no more is believed.
constexpr std::size_t kUnpackedBytesMax = std::size_t{64} << 20U;
// More than 1024 steps of the longest lines take; an agent may send longer ones.
constexpr std::size_t kChunkBytesMax = kUnpackedBytesMax / 2;

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// To make a context anew for each chunk would take longer than to compress one.
std::string compressed(std::string_view bytes) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  if (context == nullptr) throw std::bad_alloc();
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(),
                                             bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // nothing else can go wrong
  packed.resize(size);
  return packed;
}

std::string uncompressed(const std::string& packed) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kUnpackedBytesMax) refuse_field("packed", "a frame of zstd of up to 64 MiB");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != bytes.size()) {
    refuse_field("packed", "a whole frame of zstd");
  }
  return bytes;
}

std::vector<StepSample> unpacked(const std::string& packed, const ChunkRange& chunk) {
  const std::string bytes = uncompressed(packed);
  PackReader reader(bytes, kUnpackedBytesMax);
  std::vector<StepSample> samples = unpack_steps(reader);
  const bool is_range = static_cast<std::int64_t>(samples.size()) == chunk.step_count &&
                        !samples.empty() && samples.front().segment == chunk.segment &&
                        samples.front().iteration == chunk.first_iteration &&
                        samples.back().iteration == chunk.last_iteration;
  if (!is_range) refuse_field("packed", "the steps that its row names");
  return samples;
}

std::size_t bytes_of(std::span<const StepSample> samples) {
  std::size_t bytes = 0;
  for (const StepSample& sample : samples) {
    bytes += sizeof sample + sample.logged_at.size();
    for (const auto& [name, value] : sample.extra_fields) bytes += name.size() + 2 * sizeof value;
  }
  return bytes;
}

// Of one segment.
void pack_chunk(std::span<const StepSample> samples, std::vector<PackedChunk>& chunks) {
  if (samples.size() > 1 && bytes_of(samples) > kChunkBytesMax) {
    pack_chunk(samples.first(samples.size() / 2), chunks);
    pack_chunk(samples.subspan(samples.size() / 2), chunks);
    return;
  }
  PackWriter writer;
  pack_steps(writer, samples);
  PackedChunk& chunk = chunks.emplace_back();
  chunk.segment = samples.front().segment;
  chunk.first_iteration = samples.front().iteration;
  chunk.last_iteration = samples.back().iteration;
  chunk.step_count = static_cast<std::int64_t>(samples.size());
  for (const StepSample& sample : samples) {
    chunk.last_offset = std::max(chunk.last_offset, sample.byte_offset);
  }
  chunk.packed = compressed(writer.take());
}

constexpr std::string_view kRangeColumns = "segment, first_iteration, last_iteration, step_count";

std::vector<ChunkRange> read_ranges(Statement& select) {
  std::vector<ChunkRange> chunks;
  while (select.step()) {
    ChunkRange& chunk = chunks.emplace_back();
    chunk.segment = select.read_integer();
    chunk.first_iteration = select.read_integer();
    chunk.last_iteration = select.read_integer();
    chunk.step_count = select.read_integer();
  }
  return chunks;
}

}  // namespace

std::vector<PackedChunk> pack_chunks(std::span<const StepSample> samples) {
  std::vector<PackedChunk> chunks;
  while (!samples.empty()) {
    const std::span<const StepSample> most = samples.first(std::min(samples.size(), kChunkSteps));
    const auto end = std::find_if(most.begin(), most.end(), [&](const StepSample& sample) {
      return sample.segment != most.front().segment;
    });
    const auto count = static_cast<std::size_t>(end - most.begin());
    pack_chunk(most.first(count), chunks);
    samples = samples.subspan(count);
  }
  return chunks;
}

void insert_chunks(Connection& connection, RunId run, std::span<const PackedChunk> chunks) {
  for (const PackedChunk& chunk : chunks) {
    connection
        .kept(
            "INSERT INTO step_chunk (run_id, segment, first_iteration, last_iteration, step_count,"
            " last_offset, packed) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .integer(run)
        .integer(chunk.segment)
        .integer(chunk.first_iteration)
        .integer(chunk.last_iteration)
        .integer(chunk.step_count)
        .bits(chunk.last_offset)
        .bytes(chunk.packed)
        .run();
  }
}

std::vector<ChunkRange> chunks_from(Connection& connection, RunId run, StepKey from) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM step_chunk WHERE run_id = ? AND (segment, last_iteration) >= (?, ?)"
      " ORDER BY segment, last_iteration",
      kRangeColumns);
  return read_ranges(
      connection.kept(sql).integer(run).integer(from.segment).integer(from.iteration));
}

std::vector<ChunkRange> chunks_in(Connection& connection, RunId run, const parser::Window& window,
                                  std::optional<std::int32_t> segment) {
  static const std::string start = fmt::format(
      "SELECT {} FROM step_chunk WHERE run_id = ? AND last_iteration >= ? AND first_iteration <= ?",
      kRangeColumns);
  static const std::string of_run = start + " ORDER BY segment, last_iteration";
  static const std::string of_segment = start + " AND segment = ? ORDER BY last_iteration";
  Statement& select = connection.kept(segment ? of_segment : of_run);
  select.integer(run).integer(window.first_iteration).integer(window.last_iteration);
  if (segment) select.integer(std::int64_t{*segment});
  return read_ranges(select);
}

std::vector<ChunkRange> last_chunks(Connection& connection, RunId run, std::int64_t count) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM step_chunk WHERE run_id = ?"
      " ORDER BY segment DESC, last_iteration DESC LIMIT ?",
      kRangeColumns);
  return read_ranges(connection.kept(sql).integer(run).integer(count));
}

std::vector<StepSample> read_chunk(Connection& connection, RunId run, const ChunkRange& chunk) {
  Statement& select = connection.kept(
      "SELECT packed FROM step_chunk WHERE run_id = ? AND segment = ? AND last_iteration = ?");
  select.integer(run).integer(chunk.segment).integer(chunk.last_iteration);
  const std::string packed = select.step() ? select.read_bytes() : std::string();
  select.reset();
  try {
    return unpacked(packed, chunk);
  } catch (const BadField& error) {
    throw StorageError(
        StorageError::Kind::corrupt,
        fmt::format("the steps {} to {} of run {} in {} cannot be read: {}. Put back a backup, or "
                    "remove the database and read the logs anew.",
                    chunk.first_iteration, chunk.last_iteration, run, connection.place(),
                    error.what()));
  }
}

std::vector<ChunkRange> chunks_from_offset(Connection& connection, RunId run,
                                           std::uint64_t offset) {
  Statement& find = connection.kept(
      "SELECT segment, first_iteration FROM step_chunk WHERE run_id = ? AND last_offset >= ?"
      " ORDER BY segment, last_iteration LIMIT 1");
  if (!find.integer(run).bits(offset).step()) return {};
  StepKey from;
  from.segment = find.read_integer();
  from.iteration = find.read_integer();
  find.reset();
  return chunks_from(connection, run, from);
}

void delete_chunk(Connection& connection, RunId run, const ChunkRange& chunk) {
  connection.kept("DELETE FROM step_chunk WHERE run_id = ? AND segment = ? AND last_iteration = ?")
      .integer(run)
      .integer(chunk.segment)
      .integer(chunk.last_iteration)
      .run();
}

void delete_chunks(Connection& connection, RunId run) {
  connection.kept("DELETE FROM step_chunk WHERE run_id = ?").integer(run).run();
}

}  // namespace llmb::storage
