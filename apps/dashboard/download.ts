/** Gives the visitor a text as a file. */
export function downloadText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // the browser has its own copy by then
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
