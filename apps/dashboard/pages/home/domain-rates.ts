/** The opt-in rates of the domains in the list, read one after the other once the page stands. */
import { useEffect, useState } from 'preact/hooks';
import type { OrgStats } from '#libs/contract/log';
import type { Api } from '../../data/api.ts';

/** Milliseconds between two rounds: rates move once an epoch. */
const interval = 60_000;

interface DomainRate {
  total: number;
  /** null without choices */
  rate: number | null;
}

/** Those that were asked for so far, null where that failed. Read anew each minute in a tab that is seen. */
export function useDomainRates(
  api: Api,
  domainIds: readonly string[],
  { from, to }: OrgStats['period'],
): ReadonlyMap<string, DomainRate | null> {
  const [rates, setRates] = useState<ReadonlyMap<string, DomainRate | null>>(new Map());
  const wanted = domainIds.join(' ');
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAll = async () => {
      for (const domainId of wanted.split(' ').filter(Boolean)) {
        if (stop.signal.aborted) return;
        const stats = await api.stats(domainId, { from, to, by: 'source' }, stop.signal).catch(() => null);
        if (stop.signal.aborted) return;
        const rate = stats && { total: stats.total, rate: stats.optInRate ?? null };
        setRates((before) => new Map(before).set(domainId, rate ?? before.get(domainId) ?? null));
      }
      timer = setTimeout(readAgain, interval);
    };
    const readAgain = () => {
      if (document.visibilityState === 'visible') return void readAll();
      timer = setTimeout(readAgain, interval);
    };
    void readAll();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [api, wanted, from, to]);
  return rates;
}
