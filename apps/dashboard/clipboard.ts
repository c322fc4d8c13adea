/** To the clipboard; false where the browser does not let us. Pages without TLS have only the older way. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden';
  // inside an open dialog nothing outside it can be selected
  const place = document.querySelector('dialog[open]') ?? document.body;
  place.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}
