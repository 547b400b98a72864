// Days of a time zone, and the instants that stand for them in an address.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beforeDayAfter,
  firstDay,
  isDay,
  lastDay,
  launchWords,
  sinceDay,
} from "../../web/src/state/launch_days";
import { inZone } from "./in_zone";

test("a day of UTC is a bare date, the last one by the day after it", () => {
  assert.equal(sinceDay("2025-12-20", "utc"), "2025-12-20");
  assert.equal(beforeDayAfter("2025-12-22", "utc"), "2025-12-23");
  assert.equal(beforeDayAfter("2024-02-28", "utc"), "2024-02-29");
  assert.equal(beforeDayAfter("2025-12-31", "utc"), "2026-01-01");
  inZone("UTC", () => assert.equal(sinceDay("2025-12-20", "local"), "2025-12-20"));
});

test("a day of another zone begins at an instant", () => {
  inZone("America/New_York", () => {
    assert.equal(sinceDay("2025-12-20", "local"), "2025-12-20T05:00:00Z");
    assert.equal(beforeDayAfter("2025-12-20", "local"), "2025-12-21T05:00:00Z");
    assert.equal(sinceDay("2025-12-20", "utc"), "2025-12-20");
  });
  inZone("Asia/Kolkata", () =>
    assert.equal(sinceDay("2025-12-20", "local"), "2025-12-19T18:30:00Z"),
  );
});

test("a day on which clocks are changed has 23 hours, or 25", () => {
  inZone("Europe/Berlin", () => {
    assert.equal(sinceDay("2025-03-30", "local"), "2025-03-29T23:00:00Z");
    assert.equal(beforeDayAfter("2025-03-30", "local"), "2025-03-30T22:00:00Z");
    assert.equal(beforeDayAfter("2025-10-26", "local"), "2025-10-26T23:00:00Z");
  });
});

test("an address is read back as the days that it was made of", () => {
  for (const name of ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]) {
    inZone(name, () => {
      for (const zone of ["utc", "local"] as const) {
        for (const day of ["2025-01-01", "2025-03-30", "2025-12-31"]) {
          assert.equal(firstDay(sinceDay(day, zone), zone), day, `${name} ${zone}`);
          assert.equal(lastDay(beforeDayAfter(day, zone), zone), day, `${name} ${zone}`);
        }
      }
    });
  }
  assert.equal(firstDay("", "utc"), "");
  assert.equal(lastDay("soon", "utc"), "");
});

test("any instant is on a day", () => {
  inZone("America/New_York", () => {
    assert.equal(firstDay("2025-12-20", "local"), "2025-12-19");
    assert.equal(lastDay("2025-12-20", "local"), "2025-12-19");
    assert.equal(lastDay("2025-12-20T12:00:00Z", "utc"), "2025-12-20");
  });
});

test("what is chosen is said in days, and to the minute where it is no whole one", () => {
  const words = (since: string, before: string) => launchWords(since, before, "utc");
  assert.equal(words("", ""), "any");
  assert.equal(words("2025-12-20", ""), "from 2025-12-20");
  assert.equal(words("", "2025-12-23"), "to 2025-12-22");
  assert.equal(words("2025-12-20", "2025-12-23"), "2025-12-20 to 2025-12-22");
  assert.equal(words("2025-12-20", "2025-12-21"), "2025-12-20");
  assert.equal(words("2025-12-20T15:18:33Z", ""), "from 2025-12-20 15:18");
  assert.equal(
    words("2025-12-20", "2025-12-20T15:18:33Z"),
    "from 2025-12-20, before 2025-12-20 15:18",
  );
  assert.equal(words("soon", ""), "from soon");
  inZone("Europe/Berlin", () =>
    assert.equal(launchWords("2025-12-20", "", "local"), "from 2025-12-20 01:00"),
  );
});

test("a day that is still being typed is none", () => {
  assert.equal(isDay("2025-12-20"), true);
  assert.equal(isDay("0002-01-01"), false);
  assert.equal(isDay("0202-12-20"), false);
  assert.equal(isDay("2025-13-20"), false);
  assert.equal(isDay("9999-12-31"), false);
  assert.equal(isDay(""), false);
});
