// Where a token is typed. It stays in the memory of the form that asks for it, and goes with the
// page.

interface Props {
  token: string;
  onToken: (token: string) => void;
}

export function TokenField({ token, onToken }: Props) {
  return (
    <label class="field">
      <span>token of the scope submit</span>
      <input
        type="password"
        autocomplete="off"
        value={token}
        onInput={(event) => onToken(event.currentTarget.value)}
      />
    </label>
  );
}
