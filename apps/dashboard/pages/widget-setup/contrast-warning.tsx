/** Colours that cannot be told apart: in a sentence, with a way out, and the ratios for those who want them. */
import { contrastTroubles, contrastWarning } from './draft/contrast.ts';
import type { PartProps } from './group.tsx';

export interface ContrastProps extends PartProps {
  /** shows it in the preview */
  onShow(scheme: 'light' | 'dark'): void;
}

const schemeNames = { light: 'Light', dark: 'Dark' };

export function ContrastWarning({ draft, change, onShow }: ContrastProps) {
  const warning = contrastWarning(draft);
  if (!warning) return null;
  const { sentence, wayOut } = warning;
  const troubles = contrastTroubles(draft);
  const broken = wayOut === 'light' ? 'dark' : 'light';
  return (
    <>
      <p class="notice notice-bad">{sentence}</p>
      {wayOut && (
        <div class="actions">
          <button
            type="button"
            class="button"
            onClick={({ currentTarget }) => {
              // the button is gone then
              currentTarget.closest('.widget-group')?.querySelector('summary')?.focus();
              change({ theme: wayOut });
            }}
          >
            Always use the {wayOut} banner
          </button>
          <button type="button" class="button" onClick={() => onShow(broken)}>
            Show in {broken}
          </button>
        </div>
      )}
      <details class="explain">
        <summary>Where the contrast is too low</summary>
        <ul class="widget-ratios">
          {troubles.map(({ scheme, name, ratio, least }) => (
            <li key={scheme + name}>
              {schemeNames[scheme]}: {name} {ratio.toFixed(2)} : 1, at least {least} : 1 is needed.
            </li>
          ))}
        </ul>
        {wayOut && troubles.some(({ isHalfChosen }) => isHalfChosen) && (
          <p>Colours that you leave out differ between light and dark. Choose them too, or one theme.</p>
        )}
      </details>
    </>
  );
}
