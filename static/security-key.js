/** Security keys: their buttons show where a script can use them, and what went wrong is said on the page. */
for (const part of document.querySelectorAll(".needs-script")) part.hidden = !window.PublicKeyCredential;

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const trouble = document.getElementById("key-trouble");
  trouble.hidden = false;
  trouble.focus();
});
