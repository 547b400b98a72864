// What a kernel asks of tensor cores and of copies that go to shared memory beside the arithmetic,
// as the shim has it: lanes own the elements that PTX says they own ("Matrix Fragments for
// mma.m16n8k16", "… m16n8k32", "ldmatrix", "cp.async"), and a copy's elements are there no sooner
// than somebody waited for it. What nvcc sees is in runner/kernels/tensor_core.h.
#pragma once

#include <cstdint>

#include "runner/simt/block_runner.h"
#include "runner/simt/shared.h"

namespace llmb::runner::simt {

// The elements of a word, the first in the low bits: so many, and how one is read.
struct WordElements {
  int count;
  float (*of_a)(std::uint32_t word, int index);
  float (*of_b)(std::uint32_t word, int index);
};

// d (16, 8) += a (16, k) b (k, 8), of a warp: k is eight words of elements, sums are fp32.
void multiply_fragments(Site site, float (&d)[4], const std::uint32_t (&a)[4],
                        const std::uint32_t (&b)[2], const WordElements& elements);

// Four matrices of 8 rows of 8 elements each, `words[i]` of matrix i: lane 8 i + r has said where
// row r of matrix i begins, `at` elements into the span.
void load_fragments(Site site, const SharedSpan<std::uint16_t>& span, std::int64_t at,
                    bool transposed, std::uint32_t (&words)[4]);

// Eight elements, of which those from `count` on become zero. They are poison until this lane waits
// for the copies that it has committed.
void begin_copy(const SharedSpan<std::uint16_t>& span, std::int64_t at, const std::uint16_t* from,
                int count);
void commit_copies();
// Until all but the last `pending` that were committed are there.
void wait_for_copies(int pending);

}  // namespace llmb::runner::simt
