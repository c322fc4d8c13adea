/** On the way back from the provider: what it sent becomes a session, or a reason why not. */
import { useEffect } from 'preact/hooks';
import { readProvider } from '../../data/sign-in.ts';
import { Logo } from '../../parts/logo.tsx';

interface Props {
  done(session: { token: string; returnTo: string }): void;
  failed(why: string): void;
}

export function Returning({ done, failed }: Props) {
  useEffect(() => {
    const address = new URL(location.href);
    // what it holds is good for once, and nothing for a history or a bookmark
    history.replaceState(null, '', '/sign-in');
    signIn(address).then(done, (error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  }, []);
  return (
    <main class="sign-in">
      <div class="card sign-in-card" aria-busy="true">
        <Logo />
        <p role="status">Signing in …</p>
      </div>
    </main>
  );
}

async function signIn(address: URL): Promise<{ token: string; returnTo: string }> {
  const [{ comeBack }, provider] = await Promise.all([import('../../provider/provider.ts'), readProvider()]).catch(
    () => {
      throw new Error('The service cannot be reached. Sign in again in a moment.');
    },
  );
  if (!provider) throw new Error('This service has no identity provider.');
  return comeBack(provider, address);
}
