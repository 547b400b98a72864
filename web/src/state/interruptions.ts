// What a step's time holds beside training (checkpoint, evaluation, profile), by the API's names.

// Whether `without` names one of the step's interruptions, or all. Both lists are separated by commas.
export function isLeftOut(interruptions: string | null | undefined, without: string): boolean {
  if (!interruptions || !without) return false;
  const unwanted = without.split(",");
  return unwanted.includes("all") || interruptions.split(",").some((one) => unwanted.includes(one));
}
