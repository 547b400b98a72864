// Shape and word tell the state; colour only helps.
export function CellShape({ state }: { state: string }) {
  return (
    <svg class="cell-shape" viewBox="0 0 14 14" width="13" height="13" aria-hidden="true">
      {state === "met" && <path d="M2.5 7.5 5.5 10.5 11.5 3.5" class="stroke" />}
      {state === "undecided" && (
        <path d="M4.5 5a2.500 2.500 0 1 1 3.5 2.300Q7 7.800 7 9M7 11.600V11.700" class="stroke" />
      )}
      {state === "near" && <path d="M2 8c2-4 3.5-4 5-1.5S10.500 10 12 6" class="stroke" />}
      {state === "below" && <path d="M7 2.500V11M3.500 7.500 7 11 10.500 7.500" class="stroke" />}
      {state === "running" && <path d="M4 2.5 12 7 4 11.5Z" fill="currentColor" />}
      {state === "failed" && <path d="M3 3 11 11M11 3 3 11" class="stroke" />}
      {state === "incomplete" && (
        <>
          <circle cx="7" cy="7" r="4.75" class="stroke" />
          <path d="M7 2.25a4.75 4.75 0 0 1 0 9.5Z" fill="currentColor" />
        </>
      )}
      {state === "invalid" && (
        <path d="M7 1.8 13 12.2H1ZM7 5.4V8.6M7 10.2V10.9" class="stroke thin" />
      )}
      {state === "missing" && <circle cx="7" cy="7" r="4.500" class="stroke dotted" />}
      {state === "unjudged" && <path d="M3.500 7H10.500" class="stroke" />}
      {state === "stale" && (
        <>
          <circle cx="7" cy="7" r="5.25" class="stroke thin" />
          <path d="M7 4V7.4L9.2 8.8" class="stroke thin" />
        </>
      )}
    </svg>
  );
}
