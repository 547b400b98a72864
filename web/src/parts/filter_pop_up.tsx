// A filter as a field: its name and what is chosen, and behind it the list to choose from.
import type { ComponentChildren } from "preact";
import { PopUp } from "./pop_up";

interface Props {
  label: string;
  text: string; // what is chosen
  isSet: boolean;
  children: ComponentChildren; // one element of the class "choice-list"
  onToggle?: (isOpen: boolean) => void;
}

export function FilterPopUp({ label, text, isSet, children, ...toggling }: Props) {
  const summary = (
    <>
      <span class="choice-label">{label}</span>
      <span class="choice-text">{text}</span>
    </>
  );
  return (
    <PopUp {...toggling} class={isSet ? "field-list is-set" : "field-list"} summary={summary}>
      {children}
    </PopUp>
  );
}
