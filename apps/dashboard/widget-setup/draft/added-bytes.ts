import type { WidgetDraft } from './draft.ts';

/** The approximate size that settings add to a domain's compressed script. */
export async function addedBytes(domain: string, settings: WidgetDraft): Promise<number> {
  const packed = async (all: WidgetDraft) => {
    const text = JSON.stringify({ ...all, bannerVersion: '1', domain });
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    return (await new Response(stream).arrayBuffer()).byteLength;
  };
  return (await packed(settings)) - (await packed({}));
}
