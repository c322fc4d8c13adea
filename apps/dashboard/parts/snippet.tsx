/** Code with a copy button. */
import './snippet.css';
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import { Button } from './button.tsx';

interface Props {
  name: string;
  code: string;
  /** hint shown after copying; may be empty */
  warning?: string;
}

export function Snippet({ name, code, warning = '' }: Props) {
  const [isCopied, setCopied] = useState(false);
  return (
    <figure class="snippet">
      <figcaption>
        {name}
        <span role="status" class="snippet-warning">
          {isCopied && warning}
        </span>
        <Button kind="quiet" onClick={() => void copyText(code).then(setCopied)}>
          {isCopied ? 'Copied' : 'Copy'}
          <span class="hidden"> {name}</span>
        </Button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <section class="snippet-code" aria-label={name} tabIndex={0}>
        <pre>{code}</pre>
      </section>
    </figure>
  );
}
