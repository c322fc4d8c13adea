/** Downloads a text as a file. */
export const downloadText = (name: string, type: string, text: string): void =>
  downloadFile(name, new Blob([text], { type }));

export function downloadFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // in ten seconds the browser has made its own copy
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
