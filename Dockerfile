FROM python:3.11-slim AS build
RUN python -m venv /opt/klondike
WORKDIR /build
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY wire wire
COPY server server
COPY client client
RUN /opt/klondike/bin/pip install --no-cache-dir --constraint constraints.txt .

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/klondike klondike
COPY --from=build /opt/klondike /opt/klondike
ENV PATH=/opt/klondike/bin:$PATH \
    KLONDIKE_HOST=0.0.0.0 \
    KLONDIKE_PORT=8765 \
    KLONDIKE_DATA=/var/lib/klondike
USER klondike
WORKDIR /var/lib/klondike
VOLUME /var/lib/klondike
EXPOSE 8765
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['KLONDIKE_PORT'] + '/readyz', timeout=2)"]
CMD ["klondike-server"]
