// A list behind a button, over the page and inside the window. Esc closes it, and so does the focus
// that leaves it, or whatever is clicked beside it, another such button included.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const kWindowEdge = 8; // px, between it and the edge of the window

interface Props {
  class?: string;
  summary: ComponentChildren;
  children: ComponentChildren; // one element of the class "choice-list"
  onToggle?: (isOpen: boolean) => void;
}

// Where its button stands would put some of it beyond the edge: it is moved by as much.
function place(details: HTMLDetailsElement | null): void {
  const list = details?.querySelector<HTMLElement>(".choice-list");
  if (!list) return;
  list.style.transform = "none";
  const { left, right } = list.getBoundingClientRect();
  const beyondRight = right - (document.documentElement.clientWidth - kWindowEdge);
  const beyondLeft = kWindowEdge - left;
  const shift = beyondLeft > 0 ? beyondLeft : Math.min(0, -beyondRight);
  list.style.transform = `translateX(${shift}px)`;
}

export function PopUp({ class: ownClass, summary, children, onToggle }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  useLayoutEffect(() => {
    if (isOpen) place(details.current); // each time: what is chosen may move its button
  });
  useLayoutEffect(() => {
    if (!isOpen) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setIsOpen(false);
      details.current?.querySelector("summary")?.focus();
    };
    const onClick = ({ target }: Event) => {
      if (!details.current?.contains(target as Node)) setIsOpen(false);
    };
    // Where an element of it goes that has the focus, the focus is nowhere, and it stays open.
    const onFocus = ({ target }: Event) => {
      if (target instanceof Element && !details.current?.contains(target)) setIsOpen(false);
    };
    const onResize = () => place(details.current);
    addEventListener("keydown", onKey);
    // Before anyone acts on the click, and what was clicked may be gone.
    addEventListener("click", onClick, { capture: true });
    addEventListener("focusin", onFocus);
    addEventListener("resize", onResize);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("click", onClick, { capture: true });
      removeEventListener("focusin", onFocus);
      removeEventListener("resize", onResize);
    };
  }, [isOpen]);
  return (
    <details
      ref={details}
      class={ownClass ? `choice ${ownClass}` : "choice"}
      open={isOpen}
      onToggle={(event) => {
        setIsOpen(event.currentTarget.open);
        onToggle?.(event.currentTarget.open);
      }}
    >
      <summary
        onClick={(event) => {
          event.preventDefault(); // it opens where it stays
          setIsOpen(!isOpen);
        }}
      >
        {summary}
      </summary>
      {children}
    </details>
  );
}
