/** Every word that the widget shows, side by side. */
export const languages = ['en', 'de', 'fr', 'es', 'it'] as const;

type Phrase = readonly [en: string, de: string, fr: string, es: string, it: string];

export const phrases = {
  title: [
    'Your privacy, your choice',
    'Ihre Daten, Ihre Entscheidung',
    'Votre vie privée, votre choix',
    'Tu privacidad, tu decisión',
    'La tua privacy, la tua scelta',
  ],
  intro: [
    'This site uses cookies and similar technologies: some to work, others only if you allow them. You can change your mind at any time.',
    'Diese Website nutzt Cookies und ähnliche Techniken: einige für den Betrieb, andere nur mit Ihrer Erlaubnis. Sie können sich jederzeit anders entscheiden.',
    'Ce site utilise des cookies et des techniques similaires\u00a0: certains pour fonctionner, d’autres seulement avec votre accord. Vous pouvez changer d’avis à tout moment.',
    'Este sitio usa cookies y técnicas similares: unas para funcionar, otras solo con tu permiso. Puedes cambiar de opinión en cualquier momento.',
    'Questo sito usa cookie e tecniche simili: alcuni per funzionare, altri solo con il tuo consenso. Puoi cambiare idea in qualsiasi momento.',
  ],
  gpc: [
    'Global Privacy Control: everything optional is off.',
    'Global Privacy Control: alles Optionale ist aus.',
    'Global Privacy Control\u00a0: tout le facultatif est désactivé.',
    'Global Privacy Control: todo lo opcional está desactivado.',
    'Global Privacy Control: tutto il facoltativo è disattivato.',
  ],
  accept: ['Accept all', 'Alle akzeptieren', 'Tout accepter', 'Aceptar todo', 'Accetta tutto'],
  reject: ['Reject all', 'Alle ablehnen', 'Tout refuser', 'Rechazar todo', 'Rifiuta tutto'],
  customise: ['Customise', 'Auswählen', 'Personnaliser', 'Personalizar', 'Personalizza'],
  save: ['Save choice', 'Auswahl speichern', 'Enregistrer', 'Guardar', 'Salva la scelta'],
  withdraw: [
    'Withdraw consent',
    'Einwilligung widerrufen',
    'Retirer mon accord',
    'Retirar consentimiento',
    'Revoca il consenso',
  ],
  settings: [
    'Privacy settings',
    'Datenschutzeinstellungen',
    'Paramètres de confidentialité',
    'Ajustes de privacidad',
    'Impostazioni privacy',
  ],
  close: ['Close', 'Schließen', 'Fermer', 'Cerrar', 'Chiudi'],
  always: ['Always on', 'Immer aktiv', 'Toujours actifs', 'Siempre activas', 'Sempre attivi'],
  consentId: ['Consent ID', 'Einwilligungs-ID', 'ID de consentement', 'ID de consentimiento', 'ID del consenso'],
  saved: ['Choice saved.', 'Auswahl gespeichert.', 'Choix enregistré.', 'Decisión guardada.', 'Scelta salvata.'],
  policy: [
    'Privacy policy',
    'Datenschutzerklärung',
    'Politique de confidentialité',
    'Política de privacidad',
    'Informativa sulla privacy',
  ],

  // categories, and what each is for
  necessary: ['Necessary', 'Notwendig', 'Nécessaires', 'Necesarias', 'Necessari'],
  necessaryPurpose: [
    'Needed for this site to work.',
    'Für den Betrieb der Website nötig.',
    'Indispensables au fonctionnement du site.',
    'Imprescindibles para que funcione el sitio.',
    'Indispensabili al funzionamento del sito.',
  ],
  functional: ['Functional', 'Funktional', 'Fonctionnels', 'Funcionales', 'Funzionali'],
  functionalPurpose: [
    'Remembers your settings.',
    'Merkt sich Ihre Einstellungen.',
    'Retiennent vos réglages.',
    'Recuerdan tus ajustes.',
    'Ricordano le tue impostazioni.',
  ],
  analytics: ['Statistics', 'Statistik', 'Statistiques', 'Estadísticas', 'Statistiche'],
  analyticsPurpose: [
    'Shows us which pages are used.',
    'Zeigt uns, welche Seiten genutzt werden.',
    'Montrent quelles pages sont utilisées.',
    'Muestran qué páginas se usan.',
    'Mostrano quali pagine sono usate.',
  ],
  marketing: ['Marketing', 'Marketing', 'Marketing', 'Marketing', 'Marketing'],
  marketingPurpose: [
    'Advertising that fits your interests.',
    'Werbung nach Ihren Interessen.',
    'Publicité selon vos centres d’intérêt.',
    'Publicidad según tus intereses.',
    'Pubblicità in base ai tuoi interessi.',
  ],
} satisfies Record<string, Phrase>;
