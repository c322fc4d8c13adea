/** The widget's own texts in the selected language, read from the service. */
import { useEffect, useState } from 'preact/hooks';
import { packPath } from '#libs/widget/languages';
import { base } from '../data/base.ts';
import { english, type OwnTexts, packFor } from './draft/texts.ts';

export interface OurTexts {
  /** English if there are none */
  texts: OwnTexts;
  isLoading: boolean;
}

export function useOurTexts(language: string): OurTexts {
  const pack = packFor(language);
  const [found, setFound] = useState<{ pack: string | undefined; texts: OwnTexts }>({
    pack: undefined,
    texts: english,
  });
  useEffect(() => {
    let isWanted = true;
    const show = (texts: OwnTexts) => isWanted && setFound({ pack, texts });
    if (pack === undefined) show(english);
    else fetchPack(pack).then(show, () => show(english));
    return () => {
      isWanted = false;
    };
  }, [pack]);
  return { texts: found.texts, isLoading: found.pack !== pack };
}

async function fetchPack(pack: string): Promise<OwnTexts> {
  const response = await fetch(base + packPath(__TEXTS__, pack));
  if (!response.ok) throw new Error(`${pack}: ${response.status}`);
  return (await response.json()) as OwnTexts;
}
