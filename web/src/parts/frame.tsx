// The frame of every page: name, state of the live connection, what ails the service.
import type { ComponentChildren } from "preact";
import { live, type Connection } from "../api/live";
import { formatPlural } from "../format";
import { pageOf, place } from "../state/location";
import { runsHref } from "../state/runs_place";
import { nowMs, service, unanswered } from "../state/service";
import { setZone, zone } from "../state/zone";
import { Instant } from "./values";

const kConnection: Record<Connection, { word: string; hint: string }> = {
  connecting: { word: "connecting", hint: "Waiting for the stream of changes." },
  live: { word: "live", hint: "Changes appear by themselves." },
  lost: { word: "reconnecting", hint: "The stream of changes broke; what is shown may be old." },
};

const kPages = [
  { names: ["board"], title: "Board", href: "/" },
  { names: ["runs", "run", "compare"], title: "Runs", href: "/runs" },
  { names: ["scaling"], title: "Scaling", href: "/scaling" },
  { names: ["history"], title: "History", href: "/history" },
  { names: ["failures"], title: "Failures", href: "/failures" },
  { names: ["references"], title: "References", href: "/references" },
  { names: ["jobs", "job"], title: "Jobs", href: "/jobs" },
  { names: ["health"], title: "Health", href: "/health" },
];

function ConnectionMark() {
  const { word, hint } = kConnection[live.connection.value];
  return (
    <p class={`connection connection-${live.connection.value}`} role="status" title={hint}>
      <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
        {live.connection.value === "live" ? (
          <circle cx="5" cy="5" r="4" fill="currentColor" />
        ) : (
          <circle cx="5" cy="5" r="3.5" class="stroke" />
        )}
      </svg>
      {word}
    </p>
  );
}

function ZoneSwitch() {
  const isUtc = zone.value === "utc";
  return (
    <button
      type="button"
      class="quiet zone"
      title={isUtc ? "Times are in UTC. Show local time." : "Times are local. Show UTC."}
      onClick={() => setZone(isUtc ? "local" : "utc")}
    >
      {isUtc ? "UTC" : "local time"}
    </button>
  );
}

// Of a service that does not answer the lists tell; what it told last is old.
const toldNow = () => (unanswered.value ? null : service.value);

// Paper has what was told last, which a service that does not answer no longer brings up to date.
const toldAt = () => unanswered.value?.since ?? new Date(nowMs.value).toISOString();

function ServiceBanner() {
  const status = toldNow();
  if (!status) return null;
  const troubles = [...(status.halted_reason ? [status.halted_reason] : []), ...status.root_errors];
  if (troubles.length === 0) return null;
  return (
    <section class="banner" role="alert">
      <h2>{status.halted_reason ? "Reading of logs has stopped" : "Some logs cannot be read"}</h2>
      {troubles.map((trouble) => (
        <p key={trouble}>{trouble}</p>
      ))}
    </section>
  );
}

function Footer() {
  const status = toldNow();
  return (
    <footer class="foot">
      {status && (
        <p>
          llmb-report {status.version}
          {" · "}
          {status.reads_only
            ? "reads what another server stores"
            : `${formatPlural(status.files_seen, "log")} watched`}
          {status.files_pending > 0 && ` · ${formatPlural(status.files_pending, "log")} to read`}
          {status.files_parked > 0 && ` · ${formatPlural(status.files_parked, "log")} set aside`}
        </p>
      )}
    </footer>
  );
}

export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          <svg viewBox="0 0 20 16" width="20" height="16" aria-hidden="true">
            <path d="M1 0h3v16H1zM7 9h3v7H7zM12 10h3v6h-3zM17 9h3v7h-3z" fill="currentColor" />
          </svg>
          llmb-report
        </a>
        <nav class="pages" aria-label="Pages">
          {kPages.map(({ names, title, href }) => (
            <a
              key={title}
              href={title === "Runs" ? runsHref.value : href}
              {...(names.includes(pageOf(place.value.path).name) ? { "aria-current": "page" } : {})}
            >
              {title}
            </a>
          ))}
        </nav>
        <ZoneSwitch />
        <ConnectionMark />
      </header>
      <main id="main" tabIndex={-1}>
        <ServiceBanner />
        <p class="on-paper">
          As {location.host} had it at <Instant at={toldAt()} />
        </p>
        {children}
      </main>
      <Footer />
    </>
  );
}
