// What keeps series apart, by names that exist.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatKey, writtenName } from "../../web/src/format";
import { differenceWords } from "../../web/src/history_words";
import { differencesText } from "../../web/src/series_words";

const kNvls = "job_config.env_overrides.NCCL_NVLS_ENABLE";

test("what is set by its name stands as written, other keys as words", () => {
  assert.equal(formatKey("expert_tensor_parallel"), "expert tensor parallel");
  assert.equal(formatKey(kNvls), "NCCL_NVLS_ENABLE");
  assert.equal(formatKey("NCCL_ALGO"), "NCCL_ALGO");
  assert.equal(formatKey("env_overrides.http_proxy"), "http_proxy");
  assert.equal(formatKey("job_config.model_overrides.x_y"), "job_config.model_overrides.x_y");
  assert.equal(writtenName("gpu_count"), null);
});

test("in a sentence it is clear where a name ends", () => {
  assert.equal(
    differencesText([
      { key: "release", value: "24.11" },
      { key: kNvls, value: "1" },
      { key: "NCCL_ALGO", value: null },
    ]),
    "release 24.11, NCCL_NVLS_ENABLE=1, NCCL_ALGO not stated",
  );
  assert.equal(
    differenceWords({ key: kNvls, before: null, after: "3", parts_levels: true }),
    "'NCCL_NVLS_ENABLE' from not stated to 3",
  );
});
