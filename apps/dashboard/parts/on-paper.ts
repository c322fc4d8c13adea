/** Expands a list before printing, since nothing can be clicked on paper. */
import { options } from 'preact';
import { useEffect } from 'preact/hooks';

export function useOnPaper(showAll: () => void): void {
  useEffect(() => {
    const showNow = () => {
      const usual = options.debounceRendering;
      // the browser lays out the print as soon as this returns
      options.debounceRendering = (render) => render();
      showAll();
      if (usual) options.debounceRendering = usual;
      else delete options.debounceRendering;
    };
    addEventListener('beforeprint', showNow);
    return () => removeEventListener('beforeprint', showNow);
  }, []);
}
